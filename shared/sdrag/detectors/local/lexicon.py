"""
The closed classes of words that say what stands beside them.

Small sets, written by hand. A word belongs here when it is a cue (a title, a unit, the
head of an organisation's name), not when it is a value: values are found by form.
"""

from __future__ import annotations

__all__ = [
    "ACRONYMS",
    "CURRENCIES",
    "FUNCTION_WORDS",
    "GENERIC",
    "MONTHS",
    "NUMBER_WORDS",
    "ORGANISATION_HEADS",
    "ORGANISATION_SUFFIXES",
    "PARTICLES",
    "PLACE_HEADS",
    "PLACE_OF",
    "SHORTENED",
    "STREET_HEADS",
    "TITLES",
    "UNITS",
    "WEEKDAYS",
    "listed",
]


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


TITLES = listed(
    """
        Mr Mrs Ms Mx Miss Mister Dr Doctor Prof Professor Sir Dame Lord Lady Rev
        Reverend Father Fr Sister Brother Mother Rabbi Imam Sheikh Judge Justice
        Captain Capt Lt Lieutenant Colonel Col Major Maj General Gen Sergeant Sgt
        Constable Constables Inspector Superintendent Detective Officer Corporal
        Private Admiral Commander Commissioner President Senator Sen Governor Gov
        Mayor Councillor Ambassador Minister Chancellor Bishop Archbishop Pope King
        Queen Prince Princess Baron Baroness Count Countess Duke Duchess Mme Mlle
        Madame Monsieur Herr Frau Frl Signor Signora Senor Senora Don Hon Rt Uncle
        Aunt Auntie Grandma Grandpa Nurse Coach Chief Cadet Bosun Messrs
        """
)
MONTHS = listed(
    """
        January February March April May June July August September October November
        December Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec
        """
)
WEEKDAYS = listed(
    """
        Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays
        Wednesdays Thursdays Fridays Saturdays Sundays
        """
)
NUMBER_WORDS = listed(
    """
        zero one two three four five six seven eight nine ten eleven twelve thirteen
        fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty
        fifty sixty seventy eighty ninety hundred thousand million billion trillion
        dozen half couple once twice
        """
)
CURRENCIES = listed(
    """
        dollar dollars euro euros pound pounds sterling pence penny cent cents crown
        crowns franc francs lira liras yen yuan rupee rupees rouble roubles ruble
        rubles zloty zlotys mark marks peso pesos dinar dinars dirham dirhams
        shilling shillings schilling schillings krona kronor krone kroner guilder
        guilders rand baht won real reais naira nakfa birr florin florins EUR USD
        GBP CHF SEK NOK DKK PLN TRL TRY YTL DEM ATS FRF ITL JPY CNY INR AUD CAD NZD
        CYP RUB UAH HUF CZK SKK RON BGN ZAR
        """
)
UNITS: dict[str, str] = {
    **dict.fromkeys(
        listed("""
        second seconds minute minutes hour hours day days night nights week weeks
        fortnight fortnights month months year years decade decades century
        centuries min mins hr hrs semester semesters term terms
        """),
        "DURATION",
    ),
    **dict.fromkeys(
        listed("""
        mg mcg ml milligram milligrams milligrammes microgram micrograms millilitre
        millilitres milliliter milliliters tablet tablets capsule capsules drops
        puffs IU
        """),
        "DOSE",
    ),
    **dict.fromkeys(
        listed("""
        g kg gram grams grammes kilogram kilograms kilogrammes kilo kilos tonne
        tonnes ton tons lb lbs ounce ounces oz stone stones mm cm m km metre metres
        meter meters kilometre kilometres kilometer kilometers centimetre
        centimetres millimetre millimetres mile miles yard yards foot feet inch
        inches acre acres hectare hectares ha litre litres liter liters nanograms
        nanogram percent % degrees knots kW kWh MW GB MB TB hp kcal calories
        nautical pages page
        """),
        "QUANTITY",
    ),
}
PARTICLES = listed(
    "de da do dos das del della di du van von der den ter ten la le bin ibn "
    "al el y e zu av af ap st und f\u00fcr zum zur ve i w og och et"
)
ORGANISATION_SUFFIXES = listed(
    """
        Ltd Limited Inc Incorporated LLC LLP PLC Plc plc GmbH AG SA SARL BV NV Oy AB
        AS ApS Corp Corporation Co Company Group Holdings Partners Associates Sons
        Bros Brothers Pty KG SpA Srl Mutual
        """
)
ORGANISATION_HEADS = listed(
    """
        University College School Academy Institute Institution Hospital
        Infirmary Clinic Surgery Practice Court Tribunal Ministry Department
        Directorate Office Agency Authority Board Bureau Council Commission
        Committee Parliament Assembly Senate Government Police Prison Bank
        Insurance Union Party Orchestra Analytics Markets Research Media
        Networks Resources Brands Association Society Foundation Federation
        League Club Church Mosque Cathedral Museum Library Embassy Consulate
        Chamber Registry Inspectorate Office Service Services Trust Fund Centre
        Center Laboratory Laboratories Labs Press Courier Times Gazette Herald
        Tribune Post News Journal Industries Systems Technologies Solutions
        Consulting Logistics Airlines Railways Shipping Motors Electronics
        Software Pharma Pharmaceuticals Capital Ventures Studio Studios Store
        Stores Shop Restaurant Cafe Hotel Inn Bakery Prosecutor Faculty
        Congregation Army Brigade Company Organisation Organization
        Administration Hospice Pharmacy Coastguard Tramways Line Lines
        """
)
PLACE_HEADS = listed(
    """
        County District Province Region Island Islands Lake River Mount Mountain
        Mountains Valley Bay Cape Port Fort North South East West New Old Saint St
        San Santa Los Las El Village Town City Forest Park Bridge Hill Hills Beach
        Coast Sea Ocean Peninsula Harbour Harbor Estate Wood Woods Creek Springs
        Falls Heights
        """
)
STREET_HEADS = listed(
    """
        Street St Road Rd Avenue Ave Lane Ln Drive Dr Boulevard Blvd Square Sq Place
        Pl Terrace Row Way Court Ct Close Crescent Quay Mews Gardens Grove Walk
        Alley Highway Hwy Parkway Throughway Expressway Turnpike Trail Path Loop
        Plaza Circle Bank Rise House Farm Cottage Flat Apartment Apt Suite Unit
        Floor Building Campsite
        """
)
PLACE_OF = listed(
    """
        Republic Kingdom District County Province Region City Town Village
        Municipality State Island Isle Gulf Bay Lake University Bank Duchy
        Principality Commonwealth
        """
)
SHORTENED = listed("St Jr Sr Mt Ft Inc Ltd Co Corp Bros No Messrs Capt Sgt Lt Col Gen")
FUNCTION_WORDS = listed(
    """
        the a an this that these those it its he she they we you i my your his
        her our their in on at by for from with of to and or but if when while
        where what which who how why not no yes as so then there here all some
        any each every one two three is are was were be been has have had do
        does did will would can could may might shall should must after before
        since until during under over between among against about also only just
        even still yet however although because both either neither such same
        other another more most many much few several new first last next please
        dear hello hi hey thanks oh ah okay yeah hmm wow sorry
        """
)
GENERIC = listed(
    """
        Court Government Commission Convention Parliament Ministry Minister
        Supreme Constitutional Appeal Cassation Article Articles Protocol Rule
        Rules Section Chamber Code Act Law State National President Registrar
        Committee Council Federal Police Board Public Civil Criminal
        Administrative High Grand Human Rights Foreign Affairs Interior Justice
        Appeals First Instance Prosecutor General Assembly Agent Facts Procedure
        Part Chapter Annex Schedule Appendix Table Figure Paragraph Note Title
        Republic Constitution Penal Commonwealth District Regional City
        Principal Defence Military Education International Department Labour
        Union Agreement Treaty Regulation Directive Third Fourth Fifth Second
        Inter-American European
        """
)
ACRONYMS = listed(
    """
        SSN IBAN ATM ASAP CEO CFO CTO COO PIN DNA GPS FAQ VAT SMS URL API PhD
        MBA BSc HIV AIDS USB PDF CCTV ISBN SWIFT BIC DOB ETA FYI RSVP NOTE
        """
)
