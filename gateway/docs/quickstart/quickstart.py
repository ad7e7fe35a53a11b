# With Python 3.8 or newer: python3 quickstart.py
import json, os, sys, urllib.error, urllib.request


def post(operation, **body):
    request = urllib.request.Request(
        f"{os.environ['BASE_URL']}/api/{operation}",
        data=json.dumps({"workspace_id": os.environ["WORKSPACE_ID"], **body}).encode(),
        headers={"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{operation}: {error.read().decode()}")


# 1. A list
post("lists.create", id="readersPy", name="Readers")

# 2. Somebody on it
post("lists.subscribe", list_ids=["readersPy"], contact={"email": "ada@example.com", "first_name": "Ada"})

# 3. What to write: MJML with Liquid
mjml_source = """<mjml><mj-body><mj-section><mj-column>
  <mj-text>Welcome. <a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
</mj-column></mj-section></mj-body></mjml>"""
email = {"editor_mode": "code", "subject": "Hello {{ contact.first_name }}", "mjml_source": mjml_source}
post("templates.create", id="letter-py", name="Letter", channel="email", category="marketing", email=email)

# 4. Who gets it
test_settings = {"variations": [{"template_id": "letter-py", "variation_name": "A"}]}
created = post("broadcasts.create", name="First letter", audience={"list": "readersPy"}, test_settings=test_settings)

# 5. Send it
post("broadcasts.schedule", id=created["broadcast"]["id"], send_now=True)
