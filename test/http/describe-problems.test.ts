import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Type, type TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import { describeProblems } from '../../src/http/validation/describe-problems.ts'

const ajv = new Ajv({ allErrors: true, strict: false, verbose: true })
addFormats.default(ajv)

/** Describes the problems of a value that does not match a schema. */
function told(schema: TSchema, given: unknown): string[] {
  const validate = ajv.compile(schema)
  validate(given)
  const problems = (validate.errors ?? []) as Parameters<typeof describeProblems>[0]
  return describeProblems(problems, 'body').map(({ path, message }) => `${path} ${message}`)
}

const Hours = Type.Object({ from: Type.String({ pattern: '^\\d\\d:\\d\\d$' }), to: Type.String() })
const Mail = Type.Object({
  type: Type.Literal('email'),
  address: Type.String({ format: 'email' }),
  quiet: Type.Optional(Type.Union([Hours, Type.Null()])),
})
const Hook = Type.Object({
  type: Type.Literal('webhook'),
  url: Type.String(),
  quiet: Mail.properties.quiet,
})
const Channel = Type.Union([Mail, Hook])

describe('the problems of a request', () => {
  it('are reported once per field', () => {
    const schema = Type.Object({
      port: Type.Integer({ minimum: 1 }),
      names: Type.Array(Type.String()),
      ip: Type.String(),
    })
    expect(told(schema, { port: 0, names: ['a', 2] })).toEqual([
      'ip is required',
      'port must be >= 1',
      'names.1 must be string',
    ])
  })

  it('use the message of the schema where it has one', () => {
    const schema = Type.Object({
      timeout: Type.Number({ maximum: 30, 'x-sentence': 'is in seconds (0-30)' }),
    })
    expect(told(schema, { timeout: 5_000 })).toEqual(['timeout is in seconds (0-30)'])
    expect(told(schema, { timeout: '5' })).toEqual(['timeout must be number'])
  })

  it('exclude that a value is not null', () => {
    const schema = Type.Object({ hours: Type.Optional(Type.Union([Hours, Type.Null()])) })
    expect(told(schema, { hours: { from: '7', to: '08:00' } })).toEqual([
      'hours.from has an invalid format',
    ])
    expect(told(schema, { hours: 5 })).toEqual(['hours must be object'])
  })

  it('concern the kind that is named, also in a nested choice', () => {
    const wrong = { type: 'webhook', url: 5, quiet: { from: '25', to: '08:00' } }
    expect(told(Channel, wrong)).toEqual(['url must be string', 'quiet.from has an invalid format'])
    expect(told(Channel, { type: 'email', address: 'a' })).toEqual([
      'address must match format "email"',
    ])
  })

  it('are reported for each item of a list', () => {
    const list = [{ type: 'email', address: 'a' }, { type: 'webhook' }, { type: 'pigeon' }]
    expect(told(Type.Array(Channel), list)).toEqual([
      '0.address must match format "email"',
      '1.url is required',
      '2.type must be email or webhook',
    ])
  })

  it('name the kind where it is missing or unknown', () => {
    expect(told(Channel, {})).toEqual(['type must be email or webhook'])
    expect(told(Channel, { type: 'pigeon', url: 5 })).toEqual(['type must be email or webhook'])
  })

  it('name the alternatives where one of several fields is required', () => {
    const user = Type.String()
    const schema = Type.Object({
      source: Type.Union([
        Type.Object({ user, password: user }),
        Type.Object({ user, accessToken: user }),
      ]),
    })
    expect(told(schema, { source: { user: 'a' } })).toEqual([
      'source.password is required, or accessToken',
    ])
  })

  it('are one message where a field has several formats', () => {
    const schema = Type.Object({
      ip: Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })]),
    })
    expect(told(schema, { ip: 'abc' })).toEqual([
      'ip must match format "ipv4" or must match format "ipv6"',
    ])
    expect(
      told(Type.Object({ way: Type.Union([Type.Literal('in'), Type.Literal('out')]) }), {
        way: 'up',
      }),
    ).toEqual(['way must be in or out'])
  })
})
