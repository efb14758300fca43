"""Function words of some languages, which say little about the subject of a text."""

from __future__ import annotations

from collections.abc import Iterable

from eckart.errors import ParameterError

_LISTS = {
    "english": """a about above after again against all also am an and any are as at be because been before being below
        between both but by can could did do does doing down during each few for from further had has have having he
        her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not
        now of off on once only or other our ours ourselves out over own same she should so some such than that the
        their theirs them themselves then there these they this those through to too under until up upon very was we
        were what when where which while who whom why will with would you your yours yourself yourselves""",
    "german": """ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch
        auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der des die dies diese dieser dieses
        doch dort du durch ein eine einem einen einer eines er es etwas euer für gegen gewesen hab habe haben hat hatte
        hier hin ich ihm ihn ihr ihre im in ist ja jede jeder jedes jetzt kann kein keine können man mein mit muss nach
        nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so solche soll sondern sonst über um und
        uns unter viel vom von vor war waren was weg weil weiter welche wenn wer werde werden wie wieder will wir wird
        wo zu zum zur zwar zwischen""",
    "french": """à ai aie alors as au aucun aussi autre aux avait avant avec avoir bon car ce cela ces cette ceux chaque
        ci comme comment d dans de des deux devait doit donc dos du elle elles en encore es est et étaient était été
        être eu fait faites fois font hors ici il ils j je juste l la le les leur lui là ma mais me même mes moi moins
        mon n ne ni nous nouveau on ont ou où par parce pas peu peut plus pour pourquoi qu quand que quel quelle quelles
        quels qui sa sans se ses si sien son sont sous sur ta tandis te tellement tels tes ton tous tout trop très tu
        un une vos votre vous vu y""",
    "spanish": """a al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el ella
        ellas ellos en entre era eran es esa esas ese eso esos esta estaba estado estas este esto estos está están fue
        fueron ha había han hasta hay la las le les lo los me mi mis mucho muchos muy más mí nada ni no nos nosotros o
        os otra otras otro otros para pero poco por porque que quien quienes qué se sea ser si sido sin sobre son su sus
        suya suyo sí también tanto te tengo ti tiene tienen todo todos tu tus tú un una uno unos ya yo él""",
    "italian": """a ad ai al alla alle allo anche avere aveva c che chi ci come con contro cui da dagli dai dal dalla
        dalle degli dei del della delle dello di dove e ed era erano essere fra gli ha hanno ho i il in io l la le lei
        li lo loro lui ma mi mia mie miei mio ne negli nei nel nella nelle nello noi non nostro o per perché più quale
        quanto quella quelle quelli quello questa queste questi questo se sei si sia siamo sono sta stata stati stato su
        sua sue sugli sui sul sulla sulle suo suoi ti tra tu tua tue tuo tuoi tutti tutto un una uno vi voi è""",
}
LANGUAGES = tuple(_LISTS)


def stop_words(given: str | Iterable[str] | None, tokens: Iterable[str] = ()) -> frozenset[str]:
    """The words to leave out: those of a language, of the detected language ("auto"), or as given."""
    if given is None:
        return frozenset()
    if isinstance(given, str):
        if given == "auto":
            given = _language(tokens)
        if given not in _LISTS:
            raise ParameterError(
                f"stop_words={given!r} is not a supported language. Use "
                f"{', '.join(map(repr, LANGUAGES))}, 'auto', or a list of words."
            )
        return frozenset(_LISTS[given].split())
    return frozenset(str(word).lower() for word in given)


def _language(tokens: Iterable[str]) -> str:
    """The language whose function words occur most often."""
    lists = {name: frozenset(words.split()) for name, words in _LISTS.items()}
    counts = dict.fromkeys(lists, 0)
    for token in tokens:
        for name, words in lists.items():
            counts[name] += token in words
    return max(counts, key=lambda name: counts[name])
