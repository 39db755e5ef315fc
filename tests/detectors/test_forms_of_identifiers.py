"""Identifiers are found in every notation that people and machines write them in."""

from __future__ import annotations

import re

from sdrag.detectors.local import mentions

# Cases with the expected span in double brackets, and the types that it may have.
KINDS = {
    "names": (
        {"PERSON"},
        """
        Good morning, my name is [[May]].
        We were let in by Mrs [[May]] at nine. | We rang Dr. [[Rose]] about the leak.
        I had lunch with my sister [[June]] on the pier.
        Hello, I'm [[August]], the new tenant.
        The tenant's name is [[Will]].
        Thanks, [[Grace]] | Dear [[Joy]], please find the form enclosed.
        This is [[April]] speaking, from the front desk.
        hello, my name is [[may]]
        Patient: [[June]] | my neighbour [[Hope]] keeps bees
        Signed: [[May]]
        They call her [[Summer]] at home.
        """,
    ),
    "national numbers": (
        {"CODE", "US_SSN", "PHONE_NUMBER"},
        """
        UK: her NINO is [[lk 47 20 19 b]], as before.
        UK: [[JX 51 88 03 D]] stands on the payslip.
        UK: NHS number [[943 476 5919]] was read out.
        UK: driving licence [[QUILL 853097 AB9CD]] expired.
        Spain: DNI [[40528713 K]] was copied. | Spain: nie [[y 7203914 b]] is pending.
        Italy: codice fiscale [[VRD LNE 92D55 F205 X]] was stamped.
        Italy: cf [[vrdlne92d55f205x]] | Italy: carta d'identit\u00e0 [[CB 5530871]]
        Germany: Steuer-ID [[47 036 892 816]]
        Germany: Rentenversicherungsnummer [[65 170892 K 004]]
        Germany: eingetragen unter [[HRB 88214 B]]
        France: NIR [[2 91 03 75 116 204 58]] | Netherlands: BSN [[1112.22.333]]
        Poland: pesel [[920417 05528]] | Finland: hetu [[170492-915y]]
        Sweden: personnummer [[19920417-2384]] | Denmark: CPR [[170492 2384]]
        Norway: f\u00f8dselsnummer [[170492 38455]]
        Switzerland: AHV [[756.4402.1187.36]] | Croatia: OIB [[12345678903]]
        Bulgaria: EGN [[9204175528]] | Turkey: kimlik no [[10000000146]]
        India: PAN [[BQWPL 4471 K]] was linked. | India: aadhaar [[7311 9042 6650]]
        India: voter id [[KTR 5508213]] | Australia: ABN [[51 824 753 556]]
        Australia: TFN [[123 456 782]] | Australia: medicare card [[2428 77813 2]]
        Singapore: NRIC [[s 8271403 g]] | Singapore: UEN [[201733518K]]
        Korea: RRN [[920417-2384551]] | Thailand: ID [[1 7305 00412 88 6]]
        Nigeria: NIN [[70418 552 319]] | Canada: SIN [[046 454 286]]
        Brazil: CPF [[529.982.247-25]] | Chile: RUT [[17.402.881-K]]
        Mexico: CURP [[VEDL920417MDFRNN05]] | US: SSN [[512 70 4418]]
        UK: to account [[30-90-21 44187260]] | UK: paid from [[20-45-77, 3192681]].
        US: itin [[918-77-3302]] | US: Medicare MBI [[4KP7-RW2-HN65]]
        US: NPI [[1234567893]] | US: licence no. [[S 412 770 19 205]]
        US: DEA number [[bk7310954]] | South Africa: passport [[M 40718825]]
        """,
    ),
    "MAC addresses": (
        {"CODE"},
        """
        The printer is [[3C-52-82-0F-9A-D1]]. | the printer is [[3c-52-82-0f-9a-d1]]
        Leased to [[3C:52:82:0F:9A:D1]], then lost. | leased to [[3c:52:82:0f:9a:d1]].
        Switch port [[3c52.820f.9ad1]] flapped.
        Switch port [[3C52.820F.9AD1]] flapped. | arp has [[3:52:82:f:9a:d1]] twice
        arp has [[3-52-82-f-9a-d1]] twice | A router ([[3C52:820F:9AD1]]) rebooted.
        A router ([[3c52-820f-9ad1]]) rebooted.
        Read off the label: [[3C 52 82 0F 9A D1]] | Its MAC address is [[3C52820F9AD1]].
        mac=[[3c52820f9ad1]] | MAC: [[3C5282-0F9AD1]]
        [[AA:BB:CC:DD:EE:FF]] joined the network.
        [[aa-bb-cc-dd-ee-ff]] joined the network | hwaddr="[[3c:52:82:0f:9a:d1]]"
        Both [[3C:52:82:0F:9A:D1]] and a phone were seen.
        ether [[02:42:AC:11:00:02]] txqueuelen | [[0242.ac11.0002]], on port nine
        """,
    ),
    "IP addresses": (
        {"IP_ADDRESS"},
        """
        It listens on [[::1]]. | It answers at [[::1]]:8080 as well? No, at [::1].
        The link is [[fe80::5eff:fe12%eth0]] today.
        Mapped as [[::ffff:203.0.113.77]] in the log.
        The prefix [[2001:db8:40::/48]] was announced.
        From [[2001:db8:0:0:0:0:77:1]] to nowhere.
        From [[2001:DB8::77:1]], upper case. | See [[[2001:db8::77]]]:443 for it.
        The block [[198.51.100.0/24]] is ours. | Port open at [[203.0.113.77:8443]].
        from [[203.0.113.10]]-203.0.113.20 | Everything in [[203.0.113.*]] was blocked.
        host=[[203.0.113.77]]; user=none | Translated to [[64:ff9b::203.0.113.77]].
        Zeros: [[203.000.113.007]] was typed. | ip:[[203.0.113.77]]
        ([[203.0.113.77]]) | Bound to [[::]] by mistake.
        Route [[::/0]] points there. | mask [[203.0.113.0/255.255.255.0]]
        [[fd12:3456:789a:1::1]] is private | [[203.0.113.77]], [[203.0.113.78]]
        """,
    ),
    "dates and times": (
        {"DATE", "TIME"},
        """
        Logged [[2019-11-27T06:45:09.118204+02:00]]. | Logged [[20191127T064509Z]].
        Logged [[2019-11-27 06:45:09,118]] by cron. | Logged [[2019-11-27T06:45Z]].
        Logged [[2019-11-27T06:45:09-0530]] there.
        Sent Wed, [[27 Nov 2019 06:45:09 +0200]]. | Stamped [[27-NOV-2019]].
        Stamped [[27nov2019]]. | Expires [[Nov-23]].
        Expires [[NOV/2023]]. | Expires [[11/2023]].
        Born [[27.11.84]] in Turku. | Born [[1984/11/27]].
        Born [[1984.11.27]]. | Geboren am [[27. November 1984]].
        Geboren am [[3. M\u00e4rz 1984]]. | N\u00e9e le [[27 ao\u00fbt 1984]].
        Nacida el [[27 de agosto de 1984]]. | Nata il [[1\u00ba luglio 1984]].
        [[1984\u5e7411\u670827\u65e5]] | Due in [[Q3 2024]].
        Week [[2019-W48-3]]. | Stopped at [[06:45:09.118]].
        Stopped at [[06:45:09Z]]. | Le train de [[6h45]] partait.
        Um [[6.45 Uhr]] war Schluss. | hit at [[27/Nov/2019:06:45:09 +0200]]
        On [[11/27/2019 6:45 PM]]. | At [[6:45 p.m. EST]] sharp.
        The [[27th of November, 2019]].
        """,
    ),
    "plates": (
        {"CODE", "ADDRESS"},
        """
        UK: [[KV19 PLO]] was parked outside. | UK: [[KV19PLO]] was parked outside.
        UK: registration [[kv19 plo]] | UK: an old van, [[P482 KLO]], left.
        UK: [[GHT 482 N]] on the front. | Italy: targa [[FX 482 KL]]
        France: [[FX-482-KL]] roulait vite. | Spain: [[4821 KLM]] en la calle.
        Germany: [[HH-KL 482]] parkte hier. | Germany: Kennzeichen [[M KL 4821]]
        Germany: [[HH-KL 48E]] l\u00e4dt. | India: [[MH 04 KL 4821]] turned.
        India: [[MH-04-KL-4821]] turned. | India: plate [[24 BH 4821 KA]]
        Turkey: [[34 KLM 482]] park etti. | Turkey: plaka [[06 KL 4821]]
        Nigeria: [[KLM-482 GH]] stopped. | South Africa: [[ND 48 KL GP]] stopped.
        South Africa: [[CA 482-190]] stopped. | Sweden: [[KLM 48A]] stod kvar.
        Austria: [[W 48210 K]] stand dort. | Czechia: [[4A8 2190]] byl tady.
        Romania: [[CJ 48 KLM]] a plecat. | Denmark: [[KL 48 219]] holdt her.
        Ireland: [[191 D 48210]] was there. | Netherlands: [[48-KLM-9]] reed weg.
        Brazil: [[KLM 4C82]] na garagem. | Switzerland: [[ZH 482190]] stand dort.
        Korea: [[48\uac00 2190]]
        """,
    ),
    "postcodes": (
        {"ZIP_CODE", "CODE", "ADDRESS", "PHONE_NUMBER"},
        """
        Deliver to [[LS6 3QW]] only. | Deliver to [[LS63QW]] only.
        deliver to [[ls6 3qw]] only | Near [[EC2V 7HH]], by the bank.
        Near [[W1T 4LP]], by the bank. | Near [[M4 5JD]], by the canal.
        Canada: [[V6B 4Y8]], please. | Canada: [[V6B-4Y8]], please.
        canada: [[v6b 4y8]], please | Canada: [[V6B4Y8]].
        Ireland: [[D08 K4X9]], Dublin. | Netherlands: [[3511 KL]] Utrecht.
        Poland: [[31-042]] Krak\u00f3w. | Brazil: [[30140-071]].
        Brazil: CEP [[30140-071]]. | Portugal: [[4050-313]] Porto.
        US: [[97205-3318]]. | US: Portland, OR [[97205]].
        US: zip code [[97205]]. | Germany: PLZ [[22765]].
        Latvia: [[LV-1050]] Riga. | India: PIN code [[411 004]].
        Sweden: postnummer [[118 20]]. | Australia: postcode: [[3056]].
        Argentina: [[C1060ABD]].
        """,
    ),
    "wallets and bank numbers": (
        {"CODE", "IBAN_CODE", "CREDIT_CARD", "PHONE_NUMBER"},
        """
        Pay [[1BoatSLRHtKNngkdXEeobR76b53LETtpyT]] now.
        Pay [[bc1q9h6mqzu5s0p7l3k8d2xw4yvn0tf7ra6jc5e2gk]] now.
        Pay [[0x7a3Bc4D5e6F708192a3B4c5D6e7F8091a2B3c4D5]] now.
        Pay [[TQ5nWk8vXr2yLh7cDp9uBj4sEg6mFa3zKt]] on Tron.
        Pay [[rN7n3473SaZBCG4dFL83w7a1RXtXtbk2D9]] on Ripple.
        IBAN [[DE89 3704 0044 0532 0130 00]] is mine.
        iban [[de89 3704 0044 0532 0130 00]]
        IBAN [[DE89-3704-0044-0532-0130-00]] is mine.
        Send it to [[NL91ABNA0417164300]] today.
        send it to [[nl91 abna 0417 1643 00]] today
        Mistyped: [[FR77 3000 6000 0112 3456 7890 188]] it was.
        [[NO93 8601 1117 948]] is short. | IBAN: [[XX12 3456 7890 1234]]
        SWIFT code [[DEUTDEFF]] applies. | BIC: [[NEDSZAJJ XXX]]
        Sort code [[20-48-19]], please. | routing number [[021000021]]
        ABA [[0210-0002-1]] | Account number [[48 2190 7731]] was closed.
        Account no: [[4821907731]] | Card [[5500 0000 0000 0004]] was used.
        Card [[5500-0000-0000-0004]] was used. | amex [[3782 822463 10005]]
        """,
    ),
    "telephones": (
        {"PHONE_NUMBER", "CODE"},
        """
        Ring [[+44 20 7946 0871]] after six. | Ring [[+44 (0)20 7946 0871]] after six.
        Ring [[020 7946 0871]] after six. | Ring [[(503) 555-0187]] after six.
        Ring [[503-555-0187]] after six. | Ring [[503.555.0187]] after six.
        Ring [[+1-503-555-0187 x21]] after six.
        ring [[+1 (503) 555 0187 ext. 21]] after six | Ring [[503/555-0187]] after six.
        Ring [[1-800-PLUMBER]] after six. | Ring [[0049 40 482190]] after six.
        Ring [[+91 94420 18273]] after six. | Ring [[+33 4 72 18 90 55]] after six.
        Ring [[04 72 18 90 55]] after six. | Ring [[+55 (31) 98421-9077]] after six.
        Ring [[+7 (812) 482-19-07]] after six. | Ring [[+82-10-4821-9077]] after six.
        tel:[[+49-40-482190]] | phone [[5035550187]]
        Ring [[+358 44 4821907]] after six. | Ring [[0488 219 077]] after six.
        Text me at [[555-0187]].
        """,
    ),
}
_SPAN = re.compile(r"\[\[(.+?)\]\](?!\])")


def _cases() -> list[tuple[str, str, frozenset[str]]]:
    """Return each text with the span that is to be found and its types."""
    rows = []
    for types, block in KINDS.values():
        for line in filter(None, map(str.strip, re.split(r"\n| \| ", block))):
            for match in _SPAN.finditer(line):
                text = line.replace("[[", "").replace("]]", "")
                rows.append((text, match[1].strip("[]"), frozenset(types)))
    return rows


def test_finds_each_notation() -> None:
    """Each is covered by one finding of a fitting type, at a confidence that counts."""
    missed = []
    for text, value, types in _cases():
        start = text.index(value)
        end = start + len(value)
        if not any(
            m.span.start <= start
            and m.span.end >= end
            and m.type in types
            and m.confidence >= 0.5
            for m in mentions(text)
        ):
            missed.append(text)

    assert not missed


PROSE = """
She may call in the morning, and he will answer if he can.
In May the river rose, and the market closed until the end of June.
May I ask what the bill came to?
The bill said nothing about a grant, and the mark was poor.
We hope that the summer will be long and the autumn dry.
It rose by 12 per cent in the second quarter, then fell.
The council met in a room on floor two and adjourned at once.
Part II A of the annex lists 14 items, 3 of them new.
The A 12 was closed and the M 25 was slow, as usual.
Chapter 7 of Volume II has 212 pages and 40 plates.
NASA and the ESA agreed on 3 launches a year.
The ratio was three to two, then 4 to 1, which nobody believed.
See std::vector and the operator a::b in chapter 9.
He scored 6-4, 7-5 and left the court.
Between 1200 and 1900 people lived there.
An iban is a kind of number, and a pan is for cooking.
The tin cost 4 crowns, the pan cost 30.
Its passport to success was 5 years of work.
The dead beef cafe added a bad face to the facade.
A swift code of conduct was adopted by the board.
The plates were cold, and 12 oysters were passed around.
Zip it up, or post it at 9.
It costs 3.20 a day, and China said it would pay.
The car with 20 seats stood by pages 12-14 of the atlas.
"""


def test_prose_has_none_of_them() -> None:
    """Numbers, capitals and words that only look alike are left alone."""
    kinds = {"CODE", "IP_ADDRESS", "IBAN_CODE", "CREDIT_CARD", "US_SSN", "ZIP_CODE"}
    kinds |= {"PERSON", "PHONE_NUMBER", "ADDRESS"}

    assert not [
        (line, m)
        for line in PROSE.splitlines()
        for m in mentions(line)
        if m.type in kinds and m.confidence >= 0.5
    ]
