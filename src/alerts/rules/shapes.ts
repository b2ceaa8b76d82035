import { Type, type Static } from 'typebox'
import { LabelName } from '../../http/labels.ts'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import { Clock } from '../channels/channel-settings.ts'
import { MAX_CHANNELS_PER_WORKSPACE } from '../limits.ts'
import { SEVERITIES } from '../severity.ts'
import {
  MAX_ESCALATION_REPEATS,
  MAX_ESCALATION_STEPS,
  MAX_RULE_KINDS,
  MAX_RULE_LABELS,
  MAX_RULE_OBJECTS,
  MAX_RULES_PER_WORKSPACE,
  MAX_STEP_MINUTES,
} from './limits.ts'
import { WEEKDAYS } from './rule.ts'

export const SeverityName = Type.Enum([...SEVERITIES], {
  description: 'From the most to the least urgent.',
})

export const Kind = Type.String({
  pattern: '^[a-z][a-z-]{0,30}(\\.[a-z][a-z-]{0,30})?$',
  maxLength: 62,
  description: 'A kind (`blacklist.listed`), or its first word (`blacklist`) for all of them.',
})

const ObjectPattern = Type.String({
  pattern: '^[^\\p{Cc}]+$',
  minLength: 1,
  maxLength: 260,
  description: 'A name such as `mail.example.com`; `*` stands for any characters.',
})

const ChannelIds = Type.Array(Uuid, {
  minItems: 1,
  maxItems: MAX_CHANNELS_PER_WORKSPACE,
  uniqueItems: true,
})

const RuleQuietHours = Type.Object(
  {
    days: Type.Array(Type.Enum([...WEEKDAYS]), {
      minItems: 1,
      maxItems: WEEKDAYS.length,
      uniqueItems: true,
      description: 'Days on which they begin.',
    }),
    from: Clock,
    to: Clock,
    timeZone: Type.String({ maxLength: 60, description: '`Europe/Berlin`, `UTC`.' }),
  },
  {
    description:
      'Alerts wait until they end, and are then sent as one summary. `to` at or before `from` is on the next day; the same time twice is 24 hours.',
  },
)

const EscalationStep = Type.Object({
  afterMinutes: Type.Integer({
    minimum: 1,
    maximum: MAX_STEP_MINUTES,
    description: 'Minutes after the alert, or after the step before.',
  }),
  channels: ChannelIds,
})

const Steps = Type.Array(EscalationStep, { minItems: 1, maxItems: MAX_ESCALATION_STEPS })
const Repeats = Type.Integer({
  minimum: 0,
  maximum: MAX_ESCALATION_REPEATS,
  description: 'How often the steps follow again after the last one.',
})
const ESCALATION = {
  description: 'Sends the alert to more channels until its incident is acknowledged or ends.',
}

const NewEscalation = Type.Object(
  { steps: Steps, repeats: Type.Optional({ ...Repeats, default: 0 }) },
  ESCALATION,
)
const Escalation = Type.Object({ steps: Steps, repeats: Repeats }, ESCALATION)

const conditions = {
  kinds: Type.Optional(
    Nullable(Type.Array(Kind, { minItems: 1, maxItems: MAX_RULE_KINDS, uniqueItems: true }), {
      description: 'Null for all kinds.',
    }),
  ),
  objects: Type.Optional(
    Nullable(
      Type.Array(ObjectPattern, { minItems: 1, maxItems: MAX_RULE_OBJECTS, uniqueItems: true }),
      { description: 'Names of hosts, domains, endpoints or migrated mailboxes; null for all.' },
    ),
  ),
  labels: Type.Optional(
    Nullable(Type.Array(LabelName, { minItems: 1, maxItems: MAX_RULE_LABELS, uniqueItems: true }), {
      description: 'The object has at least one of these labels; null for all objects.',
    }),
  ),
  minSeverity: Type.Optional(
    Nullable(SeverityName, { description: 'The least urgent severity; null for all.' }),
  ),
}

const RuleName = Type.String({ pattern: SHOWN_NAME, maxLength: 100 })

const actions = {
  quietHours: Type.Optional(Nullable(RuleQuietHours)),
  criticalAnytime: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Whether critical alerts are sent during quiet hours.',
    }),
  ),
  escalation: Type.Optional(Nullable(NewEscalation)),
}

export const NewRule = Type.Object(
  {
    name: Type.Optional(RuleName),
    enabled: Type.Optional(Type.Boolean()),
    ...conditions,
    channels: ChannelIds,
    ...actions,
  },
  {
    examples: [
      {
        name: 'Production',
        kinds: ['blacklist'],
        labels: ['production'],
        minSeverity: 'critical',
        channels: ['0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a11'],
        escalation: {
          steps: [{ afterMinutes: 15, channels: ['0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a12'] }],
          repeats: 0,
        },
      },
    ],
  },
)
export type NewRuleBody = Static<typeof NewRule>

export const RuleChanges = Type.Object({
  name: Type.Optional(RuleName),
  enabled: Type.Optional(Type.Boolean()),
  ...conditions,
  channels: Type.Optional(ChannelIds),
  ...actions,
})
export type RuleChangesBody = Static<typeof RuleChanges>

export const RuleOrder = Type.Object({
  ids: Type.Array(Uuid, {
    maxItems: MAX_RULES_PER_WORKSPACE,
    uniqueItems: true,
    description: 'All rules of the workspace, the one that is tried first at the beginning.',
  }),
})

export const Rule = Type.Object({
  id: Uuid,
  name: Type.String(),
  enabled: Type.Boolean(),
  sentence: Type.String({ description: 'The rule in words.' }),
  problem: Nullable(Type.String({ description: 'Why the rule is skipped.' })),
  kinds: Nullable(Type.Array(Type.String())),
  objects: Nullable(Type.Array(Type.String())),
  labels: Nullable(Type.Array(Type.String())),
  minSeverity: Nullable(SeverityName),
  channels: Type.Array(Uuid),
  quietHours: Nullable(RuleQuietHours),
  criticalAnytime: Type.Boolean(),
  escalation: Nullable(Escalation),
  createdAt: Timestamp,
})

export const LabelInUse = Type.Object({ label: Type.String(), objects: Type.Integer() })

nameComponents({
  AlertRule: Rule,
  NewAlertRule: NewRule,
  AlertRuleChanges: RuleChanges,
  AlertRuleQuietHours: RuleQuietHours,
  AlertEscalation: Escalation,
  NewAlertEscalation: NewEscalation,
  AlertEscalationStep: EscalationStep,
  LabelInUse,
})
