"""
What structure tells is read: fields, headings, speakers, wrapped lines, paths, logs.

Each case has what must be found in double brackets; nothing else in it may be. So
every kind has its harmless neighbours in the same table.
"""

from __future__ import annotations

import re

import pytest

import sdrag
from sdrag.detectors.local import mentions
from sdrag.text.sentences import sentences

KINDS: dict[str, tuple[set[str], list[str]]] = {
    "labels of names": (
        {"PERSON"},
        [
            "Surname: [[Rose]]\nFirst name: [[May]]\nTown: Hull",
            "Surname: [[Lake]]\nForename(s): [[Dawn Hope]]",
            "last: [[Lake]]\nfirst: [[Dawn]]\ndob: 2011-07-01",
            '{"surname": "[[Rose]]", "firstName": "[[May]]", "name": "build"}',
            "surname=[[Rose]]; first_name=[[May]]; status=open",
            "Surname,Forename,Score\n[[Rose]],[[May]],7\n[[Lake]],[[Dawn]],9",
            "Surname\t[[Rose]]\nTown\tHull",
            "**Patient:** [[Rose]], aged 12, was well",
            "Patient's surname: [[Rose]]; ward: Lake",
            "Patient name: [[lake, dawn]]",
            "Next of kin: [[Mr Will Page]] (father)",
            "Signed: [[May Page]]\nDate: 3 May",
            "From: Finance\nTo: [[May Rose]]\nSubject: Lake levels",
            "Name: Annual Report\nOwner: Reception desk",
            "Teacher: [[Ms Mbeki]]. Room 11. Author: [[Jas. K. Lake]]",
            "Witness: none\nTeacher: unknown\nContact: see below",
            "File name: lake.txt, product name: falcon, host name: gate",
            "first: 3rd place\nlast: Tuesday",
            "Marks: 7\nGrade: B\nForename:\nTotal: 12",
            "The surname of the patient is in the file: ask at the desk.",
        ],
    ),
    "columns and fields of sums": (
        {"MONEY"},
        [
            (
                "Flat    Rent/month  Arrears\n-----   ----------  -------\n"
                "One     [[610.00]]     [[0.00]]\nTwo     [[585.00]]     [[1,170.00]]"
            ),
            "| Name | Deposit |\n|---|---|\n| May Rose | [[915.00]] |",
            "name,salary,floor\nLake,[[31200]],2\nRose,[[28400]],3",
            "pupil;fees;room\nLake;[[4100]];11",
            "Pay: [[31,200 a year]]",
            "Bonus: [[750]]\nFloor: 3",
            '{"base_salary": "[[52000]]", "level": "3"}',
            "Monthly rent: [[610]]\nPets: none",
            "Arrears: none\nDeposit: paid in full",
            "Item    Cost    Shelf\nbolt    [[12.40]]   7\nnut     [[3.10]]    8",
            "Fees are due in May. The deposit is held until the end of term 3.",
            "Rent book 7\nCosts of 2019",
            "Price per item, quantity: 12",
        ],
    ),
    "headings, items and speakers": (
        {"PERSON"},
        [
            "- [[Dawn Lake]]\n- town hall",
            "| [[Dawn Lake]] | 3 |\n| Town Hall | 4 |",
            "Baker: 3 staff\nCook: two",
            "Price: 30 pounds\nGrant: none\nWard: six",
            "PAST MEDICAL HISTORY\nShe had asthma.",
            "TERMS AND CONDITIONS\nMay the buyer cancel?",
            "MAY JUNE JULY\n3 4 5",
            "Note: I will come\nRule: you must not",
        ],
    ),
    "names inside": (
        {"PERSON"},
        [
            "Mail to [[lucia.ferrante]]@example.org today.",
            "Ask @[[lucia_ferrante]] for it.",
            "See https://net.example/in/[[lucia-ferrante]] for more.",
            "Stored under /srv/staff/[[lucia-ferrante]]/letters.",
            r"It is in C:\Users\[[jonathan.meyers]]\Desktop.",
            "Open [[jonathan_meyers.pdf]] first.",
            "Write to info@example.org or sales@example.org here.",
            "See https://example.org/docs/getting-started/grant-application here.",
            "It is in /usr/local/share/python/lib here.",
            "The file rose-garden.pdf is long-term and first-rate.",
            "Use @dataclass and @angular/core here.",
            "Read /var/log/jenkins/travis.yml again.",
            "Write to noreply@x.example or bread@x.example here.",
        ],
    ),
    "account names": (
        {"USERNAME"},
        [
            "Accepted password for [[dilan]] from 10.0.0.1 port 22",
            "Failed password for invalid user [[tmori7]] from 10.0.0.1 port 22",
            "session opened for user [[dilan]] by root",
            "made by [[svc_backup_adm]] and reversed by [[j.rourke-adm]] at two",
            "The user was locked out, and everyone who logged in failed.",
            "password for the account from 10 people; her login failed",
            "a co-admin, the system-admin, admin-only, root-cause and root_cause, svc-",
            "see /home/[[tmori]]/notes.txt",
            '{"username":"[[bluefox77]]","action":"login"}',
            "User '[[rose]]' locked out",
            "the user interface and the user guide",
            "the account was locked out in May",
            "users logged in today, and the user logged in again",
            "he logged in at nine, the login page was slow",
        ],
    ),
    "sums": (
        {"MONEY", "NUMBER"},
        [
            "It cost [[2.1 million]] then.",
            "A fine of [[2.1 million euros]] it was.",
            "It was [[$2.1 million]] in all.",
            "It was [[2.1m pounds]] in all.",
            "Worth [[three and a half billion]] then.",
            "It cost [[1.5 bn EUR]] then.",
            "A [[2.1-million]] deal.",
            "It was [[GBP 3.4 mn]] in all.",
            "It was [[\u00a33.4 mn]] in all.",
            "It was [[\u20ac 2 Mio.]] in all.",
            "Paid [[12 lakh rupees]] then.",
            "Paid [[300k]] then.",
            "A drive along the lake and a walk in the wood.",
        ],
    ),
    "e-mail addresses": (
        {"EMAIL_ADDRESS"},
        [
            "[[lucia.ferrante@\nexample.org]] is it",
            "[[lucia.ferrante\n@example.org]] is it",
            "[[lucia.ferrante@exam-\nple.org]] is it",
            "Mail to [[o'neill@example.org]] now.",
            "Mail '[[lucia@example.org]]' now.",
            "Mail [[lucia@example.org]].\nIt was late.",
            "We met Lucia.\n[[ferrante@example.org]] is hers.",
            "12 @ 3\nfoo.bar",
            "Ask @lucia\nexample.org is down.",
            "Meet @ noon.\nThen go.",
            "Use actions/checkout@v4 here.",
        ],
    ),
    "dates": (
        {"DATE"},
        [
            "filed on [[20240503]] at noon",
            "in [[CW23/2024]] again, in [[KW 23]]",
            "logged at [[1714720462]] there",
            "[[[1714720462]]] boot",
            '{"exp":[[1714720462]], "iat":[[1714720462123]]}',
            "on the [[twenty-first of June]] we met",
            "on [[June the twenty-first]] we met",
            "the [[fourteenth day of March two thousand and twenty]]",
            "this [[14th day of March, in the year of our Lord two thousand twenty]]",
            "the [[third of May nineteen eighty-seven]]",
            "This [[Third day of June, nineteen hundred and ninety-nine]].",
            "born in [[nineteen eighty-seven]], at home",
            "IMG_[[20240503]].jpg and backup-[[20240503]].tar",
            "on [[3/V/2020]], in FY[[2023/24]]",
            "in [['87]] and in the [[eighties]]",
            "order 20241903 and 12345678, serial 2024050301",
            "pid 1714720463, invoice 1714720462",
            "of two thousand and twenty people, the second of three",
            "twenty twenty-pound notes on the twenty-first floor",
            "'12' apples, the first of the mayors",
        ],
    ),
    "telephone numbers": (
        {"PHONE_NUMBER"},
        [
            "call [[5550143123]] now",
            "my number is [[7700900123]], really",
            '{"phone": [[447700900123]]}',
            '{"mobile":"[[7700900123]]"}',
            "reach her on [[07700900123]]",
            "[[+447700900123]] is hers",
            "tel [[5550143]]",
            "trace 110bcd25-a55d-453a-8046-1297901ea002 failed",
            '{"tabId":771204518}',
            "pi is 3.14159265358, pay 12345678.90",
            "see https://w.example/page?pageId=771204518",
            "orcid 0000-0002-1825-0097",
        ],
    ),
    "readings of monitors and forms": (
        {"ADDRESS"},
        [
            "BP 128/76 HR 88 RR 16 Temp 36.8 Sats 97",
            "Obs: T 38.1 P 104 BP 98/60 GCS 15",
            "PEEP 8 FiO2 40 Pmax 22 TV 450",
            "Na 138 K 4.2 Cr 88 Hb 112 WCC 9.8 CRP 34",
            "Ch 3 Lead II ST 1.2 mm",
            "Tick Box 3 and go to Section 4, Room 11 is free",
            "Unit 4 covers fractions, Q3 Revenue 12 EBITDA 4",
            "in [[flat 8]]. Tightened and dry",
            "the flat is [[9 Tanner's Row]], second floor",
            "She lives on [[Dunajska 56]].",
            "Write to [[17 Quarry Lane]].\n\nThank you for coming.",
            "Write to [[Flat 2, 80 Dock Street]], please",
            "came to [[17 St Omers Road]] today",
            "sent to [[12 Mill Lane]]. Then we left",
        ],
    ),
    "greetings": (
        {"PERSON"},
        [
            "Dear Ms [[Karlsson]],\n\nThank you.",
            "Dear Mr and Mrs [[Karlsson]],\nyour boiler",
            "Dear Ms.\n[[Hale]]",
            "Dearest [[Anna]], it rained.",
            "Dear Professor [[Hale]] and dear Dr [[Boon]]",
            "Dear [[Karlsson]] family,",
            "Hello [[Anna]], dear friends",
            "Dear Sir or Madam,\nDear colleagues and parents,",
            "Dear Madam, Dear Doctor, Dear Nurse",
            "Dear Customer\nYour Order",
            "Thank you, Mr Chairman. Mr. Speaker said so to Mr [[Bercow]].",
        ],
    ),
    "addresses between other lines": (
        {"ADDRESS", "LOCATION"},
        [
            "at [[3 Bellfounder's Yard]], near [[Tanner's Row]] and [[St Anne's Road]]",
            "the driver's way home, the miller's lane, Baker's yard, a Baker's Dozen",
            "Delivery Address:\n[[17 Quarry Lane\nHull\nHU1 2AB]]\nPhone: 0770 5550143",
            "HOME ADDRESS\n[[17 Quarry Lane\nHull HU1 2AB]]\n\nYour boiler",
            "Ann Hale\n[[17 Quarry Lane\nHull HU1 2AB]]\nOccupation: baker",
            "Invoice\n[[9 Station Road\nHull HU2 3CD]]\nAmount Due: 90.00",
            "Your Repair\n[[Flat 2, 80 Dock Street\nHull]]\nMonday to Friday",
            "[[Room 4\n12 Canal Street\nLowminster]]",
            "[[Flat 7, Brindle House\n4 Dock Street\nHull]]\nStatus: open",
            "Our house at [[12 Canal\nStreet]] is let.",
            "They came to [[9 Old Church Lane,\nNorth Camp]], and left.",
            "Section 4\nSummary\nPage 12\nThe bus leaves at ten.",
        ],
    ),
    "names with figures": (
        {"CODE"},
        [
            "moved the backups from S3 to EKS and drew the C4 diagram",
            "made by 3M and O2, near the 7-Eleven, on A4 paper",
            "vitamin B12, H2O, T2DM and COVID-19",
            "MP3, 4K, 5G, B2B sales in Q3, P45 and P60 forms",
            "BP 128/76 and a 512 MB disk, version 4.2.3",
            "24/7 support, a 50/50 split, Studio 54 and Route 66",
            "a van with the plate [[BX 9063]] waited",
            "a van, [[LT67 OPX]], and a bus",
            "staff number [[40962]] and case [[F03SB221]]",
            "policy no [[GF/OLL/3391]] lapsed",
            "id [[110bcd25-a55d-453a-8046-1297901ea002]] failed",
            "the device is [[3c:52:82:0f:9a:d1]] today",
            "her file [[T20240193]] is thin",
        ],
    ),
    "words and abbreviations of a trade": (
        {"PERSON"},
        [
            "RIGHT ATRIUM: Moderate RA elongation. MITRAL VALVE: Normal.",
            "CXR: Clear. ECG: NSR. Hb 112, WCC 9.8.",
            "PMH: COPD, T2DM, HTN. DH: Amlodipine, Ramipril, Metformin.",
            "Plan: Furosemide, repeat U&Es. TTO: Lansoprazole",
            "Hypertension. Hyperlipidaemia. Osteoarthritis.",
            "Tracheostomy Care\nBronchoscopy Findings",
            "Migrated EKS to Terraform; S3, RDS and CloudFront. Kubernetes up.",
            "GDPR and DPIA signed off; NDA pending; SLA met",
            "EHCP review: SENCO, CAMHS and SALT attended.",
            "Onboarding Checklist\nOffboarding\nDeliverables\nMilestones",
            "Safeguarding Lead\nNext of Kin\nX-ray booked",
            "annex A. Maintenance covers the release, form P-20881",
            "def rotate(key: str) -> str:\n    return key",
            "import os, sys\nfrom pathlib import Path\nnpm install eslint",
            "came on Mon, Tue and Thu, late on Fri",
            "Before District Judge [[Adeyemi]], sitting in private",
            "In the matter of [[Calloway]] v. [[Boon]], claim number 3",
            "seen by Consultant [[Umber]] on the ward",
        ],
    ),
    "credentials and code": (
        {"CREDENTIAL"},
        [
            "password = '[[hunter2!x]]'",
            "API key: [[9fK2xQ7LmB4s]]",
            "the password is [[cobalt-heron-88]].",
            "passphrase: [[korrekt-pferd-9]]",
            "client_secret=[[Zq8-11kP]]",
            "pwd: [[Tr0ub4dor]]",
            "token: [[a8f3-kk21-pp09]]",
            "def rotate(key: str) -> str:\n    return key[::-1]",
            "api_key: str = None\npassword: str",
            "secret_key = os.environ['SECRET']",
            "token = get_token()\nif password is None:",
            "password: required, login: see below",
            "enter your password: then press enter",
            "key: value, the key is under the mat",
        ],
    ),
    "typesetting": (
        {"PERSON"},
        [
            "The second witness was [[Jonathan\nMeyers]], it was said.",
            "It was seen by Mr\n[[Lake]] at noon.",
            "It was seen by [[Lucia Ferr-\nante]] at noon.",
            "> it was seen by [[Lucia\n> Ferrante]] at noon",
            "The five offi cers and the fi ve fl oors of the o ffi ce.",
            '{"text": "\\"And then\\" he said \\"Only you\\""}',
            "The meeting was well-\nattended, and the re-\nport was read.",
        ],
    ),
}
_MARKED = re.compile(r"\[\[(.+?)\]\](?!\])", re.DOTALL)


def _spans(case: str) -> tuple[str, set[int]]:
    """Return a case without its brackets, and the letters that must be found."""
    text, marked = "", set[int]()
    done = 0
    for match in _MARKED.finditer(case):
        text += case[done : match.start()]
        marked.update(range(len(text), len(text) + len(match[1])))
        text += match[1]
        done = match.end()
    text += case[done:]
    return text, {place for place in marked if text[place].isalnum()}


@pytest.mark.parametrize("kind", KINDS)
def test_finds_what_is_marked_and_nothing_else(kind: str) -> None:
    """Every letter in brackets is found, and none beside them."""
    types, cases = KINDS[kind]
    wrong = []
    for case in cases:
        text, marked = _spans(case)
        hidden = {
            place
            for mention in mentions(text)
            if mention.type in types
            for place in range(mention.span.start, mention.span.end)
            if text[place].isalnum()
        }
        if hidden != marked:
            missed = "".join(
                text[i] if i in marked - hidden else " " for i in range(len(text))
            )
            extra = "".join(
                text[i] if i in hidden - marked else " " for i in range(len(text))
            )
            wrong.append((case, missed.strip(), extra.strip()))

    assert not wrong


SENTENCES = [
    ("Surname: Rose\nFirst name: May", ["Surname: Rose", "First name: May"]),
    ("MEDICATION\nShe takes 20 mg.", ["MEDICATION", "She takes 20 mg."]),
    (
        "She takes 20 mg\nand more. Then\nwe left.",
        ["She takes 20 mg\nand more.", "Then\nwe left."],
    ),
    ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
    (
        "- one that wraps\n  over here\n- two",
        ["- one that wraps\n  over here", "- two"],
    ),
    ("2024-01-01 up\n2024-01-01 down", ["2024-01-01 up", "2024-01-01 down"]),
    ("last,first,dob\nLake,Dawn,1", ["last,first,dob", "Lake,Dawn,1"]),
    (
        "Mrs May Rose\n12 Canal Street\nHull",
        ["Mrs May Rose", "12 Canal Street", "Hull"],
    ),
    ("a written\nwarning was given", ["a written\nwarning was given"]),
    ("He gave it to the tall old witness Jonathan\nMeyers then.", 1),
    ('{"a": 1,\n"b": 2}', ['{"a": 1,', '"b": 2}']),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_lines_of_a_structure_are_sentences(
    text: str, expected: list[str] | int
) -> None:
    """A field, a row, an item and a heading end with their line; prose does not."""
    cut = [span.of(text) for span in sentences(text)]

    assert (len(cut) if isinstance(expected, int) else cut) == expected


def test_a_cell_is_a_sentence_where_that_is_asked_for() -> None:
    """A cell between bars or tabs is a sentence of its own."""
    text = "| Rose | diabetes |\nLake\tasthma"

    assert [span.of(text) for span in sentences(text, cells=True)] == [
        *("Rose", "diabetes", "Lake", "asthma"),
    ]


REGISTERED = [
    (
        "Remove names of witnesses",
        "Jonathan Meyers came. The Meyerses left.",
        ["Meyerses"],
    ),
    (
        "Remove names of witnesses",
        "Alan Quintrell came. The Quintrells left.",
        ["Quintrells"],
    ),
    (
        "Remove names of witnesses",
        "Alan Quintrell came. So did Qu1ntre11.",
        ["Qu1ntre11"],
    ),
    ("Remove names of witnesses", "Lucia Bird came, and birds sang.", []),
    ("Do not mention 'Bluebird'", "Two Bluebirds and Bluebird's wing.", ["Bluebird"]),
    ("Do not mention Quintrell", "So Qu1ntrell and Qu1ntre11 came.", ["1ntre"]),
    (
        "Do not mention Quintrell",
        "So QU1NTRE11 and Quintre!! came.",
        ["1NTRE", "intre"],
    ),
    ("Do not mention Quintrell", "So qu!ntre1l and Quintre|l came.", ["ntre"]),
    ("Do not mention Quintrell", "So quintets and 11 squirrels came.", []),
    ("Do not mention Ellis", "So E11is came with 11 others.", ["E11is"]),
    ("Do not mention Lillian", "So L1ll1an came, and 1i11ian.", ["L1ll1an", "1i11ian"]),
]


@pytest.mark.parametrize(("constraint", "text", "gone"), REGISTERED)
def test_a_registered_name_is_known_in_its_other_forms(
    constraint: str, text: str, gone: list[str]
) -> None:
    """Plurals and digits that look like letters hide no name that is known."""
    released = sdrag.explain(text, {"constraints": [constraint]}).released or ""

    assert not [form for form in gone if form in released]
    assert all(
        word in released for word in ("sang", "squirrels", "others") if word in text
    )
