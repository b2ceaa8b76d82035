import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConditions, type Conditions } from '../../src/webhooks/conditions/conditions.ts'
import {
  createRequestValues,
  parseField,
  type ReadableRequest,
} from '../../src/webhooks/conditions/request-values.ts'
import { propertyRuns } from '../property-runs.ts'

const request = (given: Partial<ReadableRequest> & { json?: unknown } = {}): ReadableRequest => ({
  method: 'POST',
  path: '/orders',
  query: 'source=shop&n=5&n=6',
  headers: [
    ['X-GitHub-Event', 'push'],
    ['X-Name', Buffer.from('Zoë').toString('latin1')],
  ],
  ip: '192.0.2.7',
  ...given,
  body: given.body ?? Buffer.from(JSON.stringify(given.json ?? {})),
})

function matches(conditions: Conditions, given: ReadableRequest, isVerified = false): boolean {
  const parsed = parseConditions(conditions)
  if ('wrong' in parsed) throw new Error(`${parsed.wrong.path} ${parsed.wrong.message}`)
  return parsed.matches(createRequestValues(given, () => isVerified))
}

const order = request({
  json: {
    type: 'order.paid',
    amount: 19.5,
    items: [{ sku: 'a/b' }, { sku: 'c' }],
    tags: ['new', 3],
    note: null,
    'a/b': { '~': 1 },
    __proto__: undefined,
  },
})

describe('conditions', () => {
  it.each<[Conditions, boolean]>([
    [{}, true],
    [{ method: 'post' }, true],
    [{ method: { $in: ['GET', 'PUT'] } }, false],
    [{ path: { $startsWith: '/ord' } }, true],
    [{ path: { $endsWith: '/x' } }, false],
    [{ 'query.source': 'shop' }, true],
    [{ 'query.n': 5 }, true],
    [{ 'query.n': { $gt: 5 } }, false],
    [{ 'query.none': { $exists: false } }, true],
    [{ 'headers.x-github-event': 'push' }, true],
    [{ 'header.X-GITHUB-EVENT': { $ne: 'push' } }, false],
    [{ 'headers.x-name': 'Zoë' }, true],
    [{ ip: '192.0.2.0/24' }, true],
    [{ ip: { $nin: ['192.0.2.0/24', '2001:db8::/32'] } }, false],
    [{ 'body/type': { $in: ['order.paid'] } }, true],
    [{ 'body/amount': { $gte: 19.5, $lt: 20 } }, true],
    [{ 'body/items/1/sku': 'c' }, true],
    [{ 'body/items/01/sku': { $exists: true } }, false],
    [{ 'body/items/length': { $exists: true } }, false],
    [{ 'body/items/0/sku': { $contains: '/' } }, true],
    [{ 'body/tags': { $contains: 3 } }, true],
    [{ 'body/tags': { $contains: '3' } }, false],
    [{ 'body/note': null }, true],
    [{ 'body/none': null }, false],
    [{ 'body/a~1b/~0': 1 }, true],
    [{ 'body/constructor': { $exists: true } }, false],
    [{ 'body/__proto__/toString': { $exists: true } }, false],
    [{ body: { $contains: 'order.paid' } }, true],
    [{ verified: true }, false],
    [{ $or: [{ method: 'GET' }, { 'body/type': 'order.paid' }] }, true],
    [{ $and: [{ method: 'POST' }, { path: '' }] }, false],
    [{ $not: { method: 'POST', path: '' } }, true],
  ])('%j is %s', (conditions, expected) => {
    expect(matches(conditions, order)).toBe(expected)
  })

  it('compare numbers beyond 2^53 exactly, as text', () => {
    const big = request({ body: Buffer.from('{"id":12345678901234567890,"price":1.10}') })
    expect(matches({ 'body/id': '12345678901234567890' }, big)).toBe(true)
    expect(matches({ 'body/id': '12345678901234567891' }, big)).toBe(false)
    expect(matches({ 'body/price': '1.10' }, big)).toBe(true)
    expect(matches({ 'body/price': 1.1 }, big)).toBe(true)
    const field = parseField('body/id')
    expect(field && createRequestValues(big, () => false).textOf(field)).toBe(
      '12345678901234567890',
    )
  })

  it('find nothing in a body that is no JSON, however it begins', () => {
    for (const body of ['', 'a=1', '{"a":', '['.repeat(200_000), '{"a":1}}'])
      expect(matches({ 'body/a': { $exists: true } }, request({ body: Buffer.from(body) }))).toBe(
        false,
      )
  })

  it.each<[Conditions, string]>([
    [{ status: 1 }, 'when.status must be method'],
    [{ 'headers.a b': 'x' }, 'must be method'],
    [{ 'body/~2': 1 }, 'must be method'],
    [{ path: { $regex: '(a+)+$' } }, '$regex must be $eq'],
    [{ path: { $in: [] } }, 'must be a list of 1 to 50'],
    [{ path: { $in: Array(51).fill('x') } }, 'must be a list of 1 to 50'],
    [{ path: {} }, 'must have an operator'],
    [{ path: { $gt: true } }, 'must be a number or a text'],
    [{ path: { $exists: 1 } }, 'must be true or false'],
    [{ path: 'x'.repeat(1_001) }, 'up to 1000 characters'],
    [{ path: ['a'] }, 'must be a text'],
    [{ ip: 'here' }, 'must be an address or a network'],
    [{ $or: [] }, 'must be a list'],
    [
      { $and: Array.from({ length: 40 }, () => ({ path: 'a', method: 'b' })) },
      'up to 64 conditions',
    ],
    [
      { $not: { $not: { $not: { $not: { $not: { $not: { path: 'a' } } } } } } },
      'nested up to 6 levels',
    ],
  ])('refuse %j', (conditions, sentence) => {
    expect(() => matches(conditions, order)).toThrow(sentence)
  })

  it('never throw for a request, whatever they compare', () => {
    const fields = ['method', 'path', 'ip', 'query.a', 'headers.a', 'body', 'body/a', 'body/0/a']
    const operand = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const operator = fc.constantFrom('$eq', '$ne', '$gt', '$lte', '$startsWith', '$contains')
    fc.assert(
      fc.property(
        fc.constantFrom(...fields),
        operator,
        operand,
        fc.oneof(fc.jsonValue(), fc.record({ a: fc.jsonValue() })),
        (field, name, value, json) => {
          const parsed = parseConditions({ [field]: { [name]: value } })
          if ('wrong' in parsed) return
          const values = createRequestValues(request({ json }), () => true)
          const not = parseConditions({ $not: { [field]: { [name]: value } } })
          if ('wrong' in not) throw new Error('not accepted within $not')
          expect(not.matches(values)).toBe(!parsed.matches(values))
        },
      ),
      propertyRuns(300, 20_000),
    )
  })
})
