"""
The names of registers and of the numbers that they give, in many languages.

Names that are also everyday words ("pan", "sin") count in capitals only.
"""

from __future__ import annotations

from sdrag.detectors.local.lexicon import listed

__all__ = ["SCHEME_NAMES"]

_NAMES = listed(
    """
        nhs nino aadhaar aadhar uidai gstin gst abn acn tfn nric uen pesel nip regon
        hetu henkil\u00f6tunnus personnummer samordningsnummer organisationsnummer orgnr
        cpr f\u00f8dselsnummer bsn burgerservicenummer rrn frn brn tnin tckn kimlik
        vergi nimc bvn npi mbi aba routing itin ssn ssns tin ein taxpayer dni nif nie
        cif iva piva steuer steuernummer idnr steuerid kvnr krankenversicherungsnummer
        versichertennummer sozialversicherungsnummer rentenversicherungsnummer
        personalausweis reisepass f\u00fchrerschein lanr bsnr handelsregister cpf cnpj
        curp rfc rut cuit cuil c\u00e9dula cedula egn cnp oib jmbg em\u0161o ahv avs nir
        siren siret passaporto patente fiscale pasaporte passeport epic voter medicare
        medicaid umid sss gsis philhealth sars vat mwst ust btw nin dea isni snils inn
        passnummer paszport teudat ogrn hkid ktp nik npwp cccd mykad cnic nid
        sozialversicherung steueridentifikationsnummer rodn\u00e9 passport iqama
        cin carte identit\u00e0 identit\u00e9 identificaci\u00f3n dowodu orcid imei
        imsi iccid vin partita
        """
)
_WORDS = listed(
    "epic sars sin pan nin tin ein iva aba vin nid cin carte mbi inn gst nip nie"
)
_ANY_CASE = _NAMES - _WORDS
SCHEME_NAMES = (
    _ANY_CASE
    | frozenset(name.capitalize() for name in _ANY_CASE)
    | frozenset(name.upper() for name in _NAMES | _WORDS)
)
