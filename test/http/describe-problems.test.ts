import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Type, type TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import { describeProblems } from '../../src/http/describe-problems.ts'

const ajv = new Ajv({ allErrors: true, strict: false, verbose: true })
addFormats.default(ajv)

/** What is said of something that a schema does not fit. */
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
const Hook = Type.Object({ type: Type.Literal('webhook'), url: Type.String(), quiet: Mail.properties.quiet })
const Channel = Type.Union([Mail, Hook])

describe('what is wrong with a request', () => {
  it('is told of each field, once', () => {
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

  it('is told in the schema’s own sentence, where it has one', () => {
    const schema = Type.Object({ timeout: Type.Number({ maximum: 30, 'x-sentence': 'is in seconds (0-30)' }) })
    expect(told(schema, { timeout: 5_000 })).toEqual(['timeout is in seconds (0-30)'])
    expect(told(schema, { timeout: '5' })).toEqual(['timeout must be number'])
  })

  it('is not that something is not null', () => {
    const schema = Type.Object({ hours: Type.Optional(Type.Union([Hours, Type.Null()])) })
    expect(told(schema, { hours: { from: '7', to: '08:00' } })).toEqual(['hours.from has an invalid format'])
    expect(told(schema, { hours: 5 })).toEqual(['hours must be object'])
  })

  it('is about the kind that is named, also in a choice within it', () => {
    const wrong = { type: 'webhook', url: 5, quiet: { from: '25', to: '08:00' } }
    expect(told(Channel, wrong)).toEqual(['url must be string', 'quiet.from has an invalid format'])
    expect(told(Channel, { type: 'email', address: 'a' })).toEqual(['address must match format "email"'])
  })

  it('is told of each in a list', () => {
    const list = [{ type: 'email', address: 'a' }, { type: 'webhook' }, { type: 'pigeon' }]
    expect(told(Type.Array(Channel), list)).toEqual([
      '0.address must match format "email"',
      '1.url is required',
      '2.type must be email or must be webhook',
    ])
  })

  it('is the kind itself, where that is missing or unknown', () => {
    expect(told(Channel, {})).toEqual(['type must be email or must be webhook'])
    expect(told(Channel, { type: 'pigeon', url: 5 })).toEqual(['type must be email or must be webhook'])
  })

  it('is one of several fields, where each alone would do', () => {
    const user = Type.String()
    const schema = Type.Object({
      source: Type.Union([Type.Object({ user, password: user }), Type.Object({ user, accessToken: user })]),
    })
    expect(told(schema, { source: { user: 'a' } })).toEqual(['source.password is required, or accessToken'])
  })

  it('is one sentence, where a field may be of several forms', () => {
    const schema = Type.Object({ ip: Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })]) })
    expect(told(schema, { ip: 'abc' })).toEqual(['ip must match format "ipv4" or must match format "ipv6"'])
    expect(told(Type.Object({ way: Type.Union([Type.Literal('in'), Type.Literal('out')]) }), { way: 'up' })).toEqual([
      'way must be in or must be out',
    ])
  })
})
