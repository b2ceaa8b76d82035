import { Type, type Static } from 'typebox'
import { LabelName } from '../../../http/labels.ts'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../../http/http-schema.ts'
import { MAX_RULE_LABELS } from '../limits.ts'
import { Kind, NewRule, SeverityName } from '../shapes.ts'

export const PreviewRequest = Type.Object(
  {
    kind: Kind,
    severity: SeverityName,
    object: Type.Optional(
      Type.String({
        maxLength: 260,
        description: 'Name of a host, domain, endpoint or mailbox.',
      }),
    ),
    labels: Type.Optional(
      Type.Array(LabelName, {
        maxItems: MAX_RULE_LABELS,
        description: 'By default the labels of the object with this name.',
      }),
    ),
    at: Type.Optional({ ...Timestamp, maxLength: 64, description: 'By default now.' }),
    draft: Type.Optional(NewRule),
    draftOf: Type.Optional({
      ...Uuid,
      description:
        'The stored rule that the draft would replace; without it, it would be the last.',
    }),
  },
  { examples: [{ kind: 'blacklist.listed', severity: 'critical', object: 'mail.example.com' }] },
)
export type PreviewBody = Static<typeof PreviewRequest>

const PreviewedChannel = Type.Object({
  id: Uuid,
  name: Type.String(),
  receives: Type.Boolean(),
  reason: Nullable(Type.String({ description: 'Why it does not get the alert.' })),
  heldUntil: Nullable(Timestamp, {
    description: 'End of the quiet hours that the alert waits for.',
  }),
})

export const PreviewResult = Type.Object({
  sentence: Type.String({ description: 'The result in words.' }),
  rule: Nullable(
    Type.Object({ id: Nullable(Uuid), name: Type.String(), sentence: Type.String() }),
    {
      description:
        'The rule that decides; its `id` is null for the draft. Null where the settings of the channels decide.',
    },
  ),
  labels: Type.Array(Type.String(), { description: 'The labels that rules were compared with.' }),
  channels: Type.Array(PreviewedChannel),
  escalation: Type.Array(
    Type.Object({
      at: {
        ...Timestamp,
        description: 'When it is due, unless the incident is acknowledged or ends before.',
      },
      channels: Type.Array(PreviewedChannel),
    }),
  ),
  repeats: Type.Integer(),
})

nameComponents({
  AlertPreviewRequest: PreviewRequest,
  AlertPreview: PreviewResult,
  AlertPreviewChannel: PreviewedChannel,
})
