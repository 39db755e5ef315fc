"""Words for peoples and what belongs to them; facts, so a list."""

from __future__ import annotations

__all__ = ["NATIONALITIES"]

NATIONALITIES = frozenset(
    """Afghan Albanian Algerian American Andorran Angolan Argentine Argentinian Armenian
    Australian Austrian Azerbaijani Bahraini Bangladeshi Basque Bavarian Belarusian Belgian
    Bolivian Bosnian Brazilian Breton British Bulgarian Burmese Cambodian Cameroonian
    Canadian Catalan Chechen Chilean Chinese Colombian Congolese Croat Croatian Cuban
    Cypriot Cypriots Czech Dane Danish Dutch Ecuadorian Egyptian English Englishman Eritrean
    Estonian Ethiopian European Filipino Finn Finnish Finns Flemish French Frenchman Gambian
    Georgian German Germans Ghanaian Greek Greeks Guatemalan Guinean Haitian Honduran
    Hungarian Icelandic Indian Indonesian Iranian Iraqi Irish Irishman Israeli Italian
    Italians Ivorian Jamaican Japanese Jew Jewish Jews Jordanian Kazakh Kenyan Korean Kosovar
    Kurd Kurdish Kurds Kuwaiti Kyrgyz Laotian Latvian Lebanese Liberian Libyan Lithuanian
    Macedonian Malagasy Malawian Malaysian Malian Maltese Mauritanian Mexican Moldovan
    Mongolian Montenegrin Moroccan Mozambican Namibian Nepali Nepalese Nicaraguan Nigerian
    Norwegian Omani Pakistani Palestinian Palestinians Panamanian Paraguayan Persian Peruvian
    Pole Poles Polish Portuguese Qatari Roma Romani Romanian Russian Russians Rwandan Sami
    Saudi Scot Scottish Senegalese Serb Serbian Serbs Sinhalese Slovak Slovakian Slovene
    Slovenian Somali Spaniard Spanish Sudanese Swede Swedes Swedish Swiss Syrian Syrians
    Taiwanese Tajik Tamil Tanzanian Thai Tibetan Tunisian Turk Turkish Turks Turkmen Ugandan
    Ukrainian Ukrainians Uruguayan Uzbek Venezuelan Vietnamese Welsh Yemeni Yugoslav Zambian
    Zimbabwean African Asian Arab Arabs Arabic Muslim Muslims Christian Christians Catholic
    Catholics Protestant Protestants Orthodox Hindu Hindus Sikh Sikhs Buddhist Buddhists
    Alevi Alevis Sunni Shia Shiite Democrat Republican Communist Socialist""".split()
)
