# Type-checked against the wheel, and run, by ../main.ts.
import os

from postrider import Postrider

client = Postrider(
    os.environ["BASE_URL"], token=os.environ["TOKEN"], workspace_id=os.environ["WORKSPACE_ID"]
)
client.lists.create(id="readers", name="Readers")
client.lists.subscribe(list_ids=["readers"], contact={"email": "ada@example.com"})
client.templates.create(
    id="letter",
    name="Letter",
    channel="email",
    category="marketing",
    email={
        "editor_mode": "code",
        "subject": "Hello",
        "mjml_source": "<mjml><mj-body></mj-body></mjml>",
    },
)
created = client.broadcasts.create(
    name="First letter",
    audience={"list": "readers"},
    test_settings={"variations": [{"template_id": "letter", "variation_name": "A"}]},
)
client.broadcasts.schedule(id=created["broadcast"]["id"], send_now=True)
