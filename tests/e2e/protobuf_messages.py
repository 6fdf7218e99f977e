"""Classes of protobuf's own library for messages that are described in a table: no compiler of .proto files is needed."""


def message_class(messages, root):
    """messages: {name: [(field, number, type)]}; a type is a scalar of protobuf or a message, repeated with "*"."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    fields = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="messages.proto", package="kepler.test", syntax="proto2")
    for message, members in messages.items():
        described = file.message_type.add(name=message)
        for name, number, kind in members:
            label = fields.LABEL_REPEATED if kind.endswith("*") else fields.LABEL_OPTIONAL
            kind = kind.rstrip("*")
            field = described.field.add(name=name, number=number, label=label)
            if kind in messages:
                field.type, field.type_name = fields.TYPE_MESSAGE, f".kepler.test.{kind}"
            else:
                field.type = getattr(fields, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName(f"kepler.test.{root}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)
