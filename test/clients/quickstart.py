import os

from postrider_api_client import AuthenticatedClient
from postrider_api_client.api.broadcasts import broadcasts_create, broadcasts_schedule
from postrider_api_client.api.lists import lists_create, lists_subscribe
from postrider_api_client.api.templates import templates_create
from postrider_api_client.models import (
    AudienceInput,
    ContactInput,
    CreateBroadcastRequest,
    CreateListRequest,
    CreateTemplateRequest,
    EmailContentInput,
    ScheduleBroadcastRequest,
    SubscribeContactRequest,
    TemplateCategory,
    TemplateChannel,
    TestSettingsInput,
    VariationInput,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"], raise_on_unexpected_status=True)
workspace_id = os.environ["WORKSPACE_ID"]


def good(operation, body):
    answer = operation.sync_detailed(client=client, body=body)
    if answer.status_code >= 300:
        raise SystemExit(answer.content)
    return answer.parsed


good(lists_create, CreateListRequest(workspace_id=workspace_id, id="readers", name="Readers"))
good(
    lists_subscribe,
    SubscribeContactRequest(workspace_id=workspace_id, list_ids=["readers"], contact=ContactInput(email="ada@example.com")),
)
email = EmailContentInput(editor_mode="code", subject="Hello", mjml_source="<mjml><mj-body></mj-body></mjml>")
good(
    templates_create,
    CreateTemplateRequest(
        workspace_id=workspace_id,
        id="letter",
        name="Letter",
        channel=TemplateChannel.EMAIL,
        category=TemplateCategory.MARKETING,
        email=email,
    ),
)
settings = TestSettingsInput(variations=[VariationInput(template_id="letter", variation_name="A")])
created = good(
    broadcasts_create,
    CreateBroadcastRequest(
        workspace_id=workspace_id, name="First letter", audience=AudienceInput(list_="readers"), test_settings=settings
    ),
)
good(broadcasts_schedule, ScheduleBroadcastRequest(workspace_id=workspace_id, id=created.broadcast.id, send_now=True))
