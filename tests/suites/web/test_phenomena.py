"""Definitions of phenomena in the pages."""


def test_a_definition_is_written_and_shown_where_people_judge(ada, ben, first):
    asked = {"category": first.item.category, "phenomenon": first.item.phenomenon}
    assert "Write a definition" in ada.get("/phenomena").text
    told = asked | {"definition": "Words with <two> senses", "examples": "bank\nspring"}
    assert ada.post("/phenomena", **told).headers["location"] == "/phenomena"
    for path in ("/phenomena", f"/case/{first.output.id}", "/history?kind=phenomenon"):
        assert "Words with &lt;two&gt; senses" in ben.get(path).text
    assert "bank\nspring</textarea>" in ben.get("/phenomena", params=asked).text
    assert ben.post("/phenomena", **told).status_code == 400
