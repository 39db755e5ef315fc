"""Words in lower case that say something of a person: trades, kin, faith, illness."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.tokens import Tokens

__all__ = ["terms"]


def _table(**classes: str) -> dict[str, str]:
    return {word: type_ for type_, words in classes.items() for word in words.split()}


_TERMS = _table(
    JOB_TITLE="""accountant actor actress advocate agent analyst architect artist assistant
    attorney auditor baker banker barber barrister bookkeeper builder butcher caretaker
    carpenter cashier chauffeur chef chemist cleaner clerk coach conductor consultant cook
    councillor courier dancer dentist developer dietitian director diver doctor driver
    economist editor electrician engineer farmer firefighter fireman fireman fisherman
    gardener guard hairdresser housekeeper inspector interpreter janitor jeweller
    journalist judge lawyer lecturer librarian lifeguard locksmith magistrate manager
    mason mechanic midwife miner minister muhtar musician notary nurse officer optician
    painter paramedic pawnbroker pharmacist photographer physician physiotherapist pianist
    pilot plumber policeman policewoman porter postman priest principal prosecutor
    psychiatrist psychologist publisher receptionist registrar reporter researcher sailor
    salesman salesperson schoolteacher scientist secretary shepherd shopkeeper solicitor
    surgeon surveyor tailor teacher technician therapist trader translator treasurer tutor
    typist undertaker vet veterinarian waiter waitress warden welder writer""",
    RELATION="""married divorced widowed widow widower husband wife hubby spouse fiance
    fiancee partner mother father mum mom dad parents son sons daughter daughters brother
    brothers sister sisters aunt uncle cousin cousins nephew niece grandson granddaughter
    grandmother grandfather grandparents grandchildren stepfather stepmother stepson
    divorce marriage twins kids children""",
    CONDITION="""cancer tumour tumor diabetes asthma epilepsy depression anxiety dementia
    hepatitis tuberculosis pneumonia stroke leukaemia leukemia anaemia anemia arthritis
    schizophrenia psychosis bipolar autism hiv aids hypertension migraine fracture
    disability disabled pregnant pregnancy abortion miscarriage obesity allergy allergies
    insomnia ptsd infection sepsis endocarditis dizziness illness""",
    RELIGION="""muslim christian jewish catholic protestant orthodox hindu sikh buddhist
    atheist islam christianity judaism""",
)


def terms(tokens: Tokens) -> Iterator[Found]:
    """Yield the terms; what is common to many people has a low confidence."""
    for index, word in enumerate(tokens.words):
        type_ = _TERMS.get(word) or _TERMS.get(word.lower())
        if type_:
            yield Found(tokens.starts[index], tokens.ends[index], type_, 0.4, "term")
