import os

import grpc
from postrider.broadcasts.v1 import broadcasts_pb2, broadcasts_pb2_grpc
from postrider.contacts.v1 import contacts_pb2, lists_pb2, lists_pb2_grpc
from postrider.templates.v1 import templates_pb2, templates_pb2_grpc

workspace_id = os.environ["WORKSPACE_ID"]
metadata = [("authorization", f"Bearer {os.environ['TOKEN']}")]

with grpc.insecure_channel(os.environ["GRPC_ADDR"]) as channel:
    lists = lists_pb2_grpc.ListServiceStub(channel)
    readers = lists_pb2.CreateListRequest(workspace_id=workspace_id, id="readers", name="Readers")
    lists.CreateList(readers, metadata=metadata)

    ada = contacts_pb2.ContactInput(email="ada@example.com")
    subscription = lists_pb2.SubscribeContactRequest(workspace_id=workspace_id, list_ids=["readers"], contact=ada)
    lists.SubscribeContact(subscription, metadata=metadata)

    email = templates_pb2.EmailContent(editor_mode="code", subject="Hello", mjml_source="<mjml><mj-body></mj-body></mjml>")
    letter = templates_pb2.CreateTemplateRequest(
        workspace_id=workspace_id,
        id="letter",
        name="Letter",
        channel=templates_pb2.TEMPLATE_CHANNEL_EMAIL,
        category=templates_pb2.TEMPLATE_CATEGORY_MARKETING,
        email=email,
    )
    templates_pb2_grpc.TemplateServiceStub(channel).CreateTemplate(letter, metadata=metadata)

    broadcasts = broadcasts_pb2_grpc.BroadcastServiceStub(channel)
    draft = broadcasts_pb2.CreateBroadcastRequest(workspace_id=workspace_id, name="First letter")
    draft.audience.list = "readers"
    draft.test_settings.variations.add(template_id="letter", variation_name="A")
    broadcast = broadcasts.CreateBroadcast(draft, metadata=metadata).broadcast

    now = broadcasts_pb2.ScheduleBroadcastRequest(workspace_id=workspace_id, id=broadcast.id, send_now=True)
    broadcasts.ScheduleBroadcast(now, metadata=metadata)
