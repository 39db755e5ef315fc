"""Words for peoples and what belongs to them; facts, so a list."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import listed
from sdrag.detectors.local.tokens import Tokens

__all__ = ["NATIONALITIES", "peoples"]

NATIONALITIES = listed("""
        Afghan Albanian Algerian American Andorran Angolan Argentine Argentinian
        Armenian Australian Austrian Azerbaijani Bahraini Bangladeshi Basque
        Bavarian Belarusian Belgian Bolivian Bosnian Brazilian Breton British
        Bulgarian Burmese Cambodian Cameroonian Canadian Catalan Chechen Chilean
        Chinese Colombian Congolese Croat Croatian Cuban Cypriot Cypriots Czech Dane
        Danish Dutch Ecuadorian Egyptian English Englishman Eritrean Estonian
        Ethiopian European Filipino Finn Finnish Finns Flemish French Frenchman
        Gambian Georgian German Germans Ghanaian Greek Greeks Guatemalan Guinean
        Haitian Honduran Hungarian Icelandic Indian Indonesian Iranian Iraqi Irish
        Irishman Israeli Italian Italians Ivorian Jamaican Japanese Jew Jewish Jews
        Jordanian Kazakh Kenyan Korean Kosovar Kurd Kurdish Kurds Kuwaiti Kyrgyz
        Laotian Latvian Lebanese Liberian Libyan Lithuanian Macedonian Malagasy
        Malawian Malaysian Malian Maltese Mauritanian Mexican Moldovan Mongolian
        Montenegrin Moroccan Mozambican Namibian Nepali Nepalese Nicaraguan Nigerian
        Norwegian Omani Pakistani Palestinian Palestinians Panamanian Paraguayan
        Persian Peruvian Pole Poles Polish Portuguese Qatari Roma Romani Romanian
        Russian Russians Rwandan Sami Saudi Scot Scottish Senegalese Serb Serbian
        Serbs Sinhalese Slovak Slovakian Slovene Slovenian Somali Spaniard Spanish
        Sudanese Swede Swedes Swedish Swiss Syrian Syrians Taiwanese Tajik Tamil
        Tanzanian Thai Tibetan Tunisian Turk Turkish Turks Turkmen Ugandan Ukrainian
        Ukrainians Uruguayan Uzbek Venezuelan Vietnamese Welsh Yemeni Yugoslav
        Zambian Zimbabwean African Asian Arab Arabs Arabic Muslim Muslims Christian
        Christians Catholic Catholics Protestant Protestants Orthodox Hindu Hindus
        Sikh Sikhs Buddhist Buddhists Alevi Alevis Sunni Shia Shiite Democrat
        Republican Communist Socialist
        """)

_STATE = listed("""
        law legal authorities citizens citizenship army nationals court courts state
        border capital government police Government
        """)


def peoples(tokens: Tokens) -> Iterator[Found]:
    """Yield words for peoples; what names a state's own affairs is less sure."""
    words = tokens.words
    for index, word in enumerate(words):
        if word not in NATIONALITIES:
            continue
        after = words[index + 1] if index + 1 < len(words) else ""
        joined = index + 1 < len(words) and tokens.gap(index + 1) == " "
        affairs = joined and (after in _STATE or after[0].isupper())
        yield Found(
            tokens.starts[index],
            tokens.ends[index],
            "NATIONALITY",
            0.4 if affairs else 0.6,
            "list",
        )
