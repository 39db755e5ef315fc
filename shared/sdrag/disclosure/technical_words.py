"""The words that machines write into ids, paths and URLs, and those of sentences."""

from __future__ import annotations

from sdrag.detectors.local.lexicon import listed

__all__ = ["EXTENSIONS", "ID_WORDS", "KEY_WORDS", "SENTENCE_WORDS", "TECHNICAL_WORDS"]

TECHNICAL_WORDS = listed(
    """
    amazonaws api app apps archive archives arxiv asset assets atlassian attachment
    attachments backup batch blob blobs block blocks bucket buckets cache cdn cell chunk
    chunks cloud cloudfront cms col collection collections cols column com config
    confluence content contents corpora corpus csv data dataset datasets db dev dir dirs
    doc docs document documents doi download downloads draft drafts drive edu emb
    embedding embeddings en entries entry etc example examples export exports ext fig
    figure file files folder folders fragment ftp git github gitlab google gov guid
    guide guides handbook hash home href html http https id ids idx image images img
    imgs
    import index info input inputs internal intranet io item jira json kb lib line lines
    local localhost log logs main manual manuals media meta metadata mnt net node nodes
    obj object objects opt org output outputs page pages para paragraph part partition
    parts passage path paths pdf policies policy prod public raw readme ref refs repo
    report reports repos resource resources rev root row rows sample samples scan scans
    sec section sections seg segment segments server shard share shared sharepoint sheet
    site slide slides snapshot span split splits src srv staging static storage store
    sub summaries summary sys table tables tbl temp test tests text texts tmp txt uid
    upload uploads uri url usr uuid var vec vector vectors ver version versions web
    webpage wiki wikipedia window workspace www xml youtube
    """
)
"""Words that machines and their keepers write into names, and that tell no secret."""

ID_WORDS = TECHNICAL_WORDS - listed(
    "handbook home manual manuals policies policy public report reports share shared"
)
"""Those that stand in ids: `chunk-12` is nobody's, and `report-12` may be."""

KEY_WORDS = listed("guid id ids idx uid uri url uuid")
"""Those that make an id of other such words without any number: `chunk_id`."""

SENTENCE_WORDS = listed(
    """
    about after again against ago all also although always am an and another any are as
    at away back be because been before behind being below between both but by came can
    cannot come comes could did do does done down during each either else ever every few
    for from gave get gets give gives go goes gone got had has have he heard held her
    here hers herself him himself his how however i if in inside into is it its itself
    just kept knew know known knows last later least left less lied like lost made make
    makes many may me mean means met might mine more most much must my near neither
    never no nobody none nor not nothing now of off often on once one only or other
    others our out outside over own paid perhaps put ran said same saw say says see seen
    sent several shall she should since so sold some soon still stole such take taken
    takes tell tells than that the their them then there these they thing this those
    though thought through till to together told too took toward under until up upon us
    very was we went were what when where whether which while who whom whose why will
    with within without would wrote yes yet you your
    """
)
"""Words without which few sentences are made."""

EXTENSIONS = listed(
    """
    7z asc avi avro bak bin bmp bz2 c cfg conf cpp cs css csv db doc docx dot eml epub
    flac gif go gz h htm html ico ini ipynb java jpeg jpg js json jsonl key latex log
    m4a md mdx mkv mov mp3 mp4 mpeg msg ndjson npy npz numbers odp ods odt ogg orc org
    pages parquet pdf php pkl png ppt pptx ps py r rar rb rs rst rtf sh sql sqlite srt
    svg tar tex tgz tif tiff toml ts tsv txt vtt wav webm webp xhtml xls xlsm xlsx xml
    yaml yml zip zst
    """
)
"""What follows the last dot of a file's name."""
