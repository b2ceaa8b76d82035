import { Type } from 'typebox'
import { MAX_BIGINT, MAX_LENGTH, nameComponents, Nullable } from '../../http/http-schema.ts'

const List = Type.Optional(
  Type.String({ maxLength: 1_000, description: 'Several are separated by commas.' }),
)

export const BouncerHeaders = Type.Object({
  'x-api-key': Type.Optional(
    Type.String({ maxLength: MAX_LENGTH.header, description: 'A bouncer key of the workspace.' }),
  ),
})

const filters = {
  scopes: List,
  origins: List,
  scenarios_containing: List,
  scenarios_not_containing: List,
}

const Flag = Type.String({ maxLength: 100 })

export const StreamQuery = Type.Object({
  startup: Type.Optional(
    Type.Union([Flag, Type.Array(Flag, { maxItems: 10 })], {
      description: 'Sends the whole list for `true`; anything else counts as `false`.',
    }),
  ),
  ...filters,
})

const Target = Type.Optional(Type.String({ maxLength: MAX_LENGTH.address }))

export const DecisionsQuery = Type.Object({
  ip: Target,
  range: Target,
  scope: Target,
  value: Type.Optional(Type.String({ maxLength: 1_000 })),
  type: Type.Optional(Type.String({ maxLength: 100 })),
  ...filters,
})

const Decision = Type.Object(
  {
    id: Type.Integer(),
    origin: Type.String(),
    type: Type.String(),
    scope: Type.String(),
    value: Type.String(),
    duration: Type.String(),
    scenario: Type.String(),
  },
  {
    examples: [
      {
        id: 42,
        origin: 'portreeve-fleet',
        type: 'ban',
        scope: 'Ip',
        value: '8.8.4.4',
        duration: '3h59m58s',
        scenario: 'portreeve/ssh',
      },
    ],
  },
)

export const DecisionsStream = Type.Object({
  new: Type.Array(Decision),
  deleted: Type.Array(Decision),
})

export const Decisions = Nullable(Type.Array(Decision))

const Name = Type.Optional(Type.String({ maxLength: 200 }))

export const UsageMetrics = Type.Object({
  remediation_components: Type.Optional(
    Type.Array(
      Type.Object({
        type: Name,
        version: Name,
        metrics: Type.Optional(
          Type.Array(
            Type.Object({
              items: Type.Optional(
                Type.Array(
                  Type.Object({
                    name: Name,
                    unit: Name,
                    value: Type.Optional(Type.Number({ maximum: MAX_BIGINT })),
                  }),
                  { maxItems: 5_000 },
                ),
              ),
            }),
            { maxItems: 100 },
          ),
        ),
      }),
      { maxItems: 1 },
    ),
  ),
})

/** The body of every failure of CrowdSec’s local API. */
export const ApiFailure = Type.Object({ message: Type.String() })

nameComponents({
  CrowdSecDecision: Decision,
  CrowdSecDecisions: DecisionsStream,
  CrowdSecUsageMetrics: UsageMetrics,
  CrowdSecFailure: ApiFailure,
})
