import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  patchJson,
  PatchError,
  type PatchOperation,
} from '../../src/webhooks/forwarding/json-patch.ts'
import { findWrongChange } from '../../src/webhooks/forwarding/change-request.ts'

const patch = (text: string, ...operations: PatchOperation[]) =>
  patchJson(Buffer.from(text), operations).toString()

describe('JSON Patch', () => {
  // RFC 6902, appendix A, by its number.
  it.each<[string, string, PatchOperation[], string]>([
    ['A.1', '{"foo":"bar"}', [{ op: 'add', path: '/baz', value: 'q' }], '{"foo":"bar","baz":"q"}'],
    [
      'A.2',
      '{"foo":["a","b"]}',
      [{ op: 'add', path: '/foo/1', value: 'q' }],
      '{"foo":["a","q","b"]}',
    ],
    ['A.3', '{"baz":"q","foo":"bar"}', [{ op: 'remove', path: '/baz' }], '{"foo":"bar"}'],
    ['A.4', '{"foo":["a","q","b"]}', [{ op: 'remove', path: '/foo/1' }], '{"foo":["a","b"]}'],
    [
      'A.6',
      '{"f":{"w":1},"q":{}}',
      [{ op: 'move', from: '/f/w', path: '/q/t' }],
      '{"f":{},"q":{"t":1}}',
    ],
    [
      'A.7',
      '{"f":["a","b","c"]}',
      [{ op: 'move', from: '/f/0', path: '/f/2' }],
      '{"f":["b","c","a"]}',
    ],
    ['A.8', '{"b":"q"}', [{ op: 'test', path: '/b', value: 'q' }], '{"b":"q"}'],
    ['A.10', '{"f":"b"}', [{ op: 'add', path: '/c', value: { g: {} } }], '{"f":"b","c":{"g":{}}}'],
    ['A.14', '{"/":9,"~1":10}', [{ op: 'test', path: '/~01', value: 10 }], '{"/":9,"~1":10}'],
    ['A.16', '{"f":["b"]}', [{ op: 'add', path: '/f/-', value: ['a'] }], '{"f":["b",["a"]]}'],
    ['a whole document', '{"a":1}', [{ op: 'replace', path: '', value: [1] }], '[1]'],
    [
      'a whole document copied',
      '{"a":1}',
      [{ op: 'copy', from: '', path: '/b' }],
      '{"a":1,"b":{"a":1}}',
    ],
  ])('does %s', (_name, before, operations, after) => {
    expect(JSON.parse(patch(before, ...operations))).toEqual(JSON.parse(after))
  })

  it.each<[string, PatchOperation[], string]>([
    ['{"baz":"q"}', [{ op: 'test', path: '/baz', value: 'bar' }], 'does not hold'],
    ['{"foo":"bar"}', [{ op: 'add', path: '/baz/bat', value: 'q' }], 'missing'],
    ['{"a":[1]}', [{ op: 'add', path: '/a/3', value: 1 }], 'missing'],
    ['{"a":[1]}', [{ op: 'remove', path: '/a/01' }], 'missing'],
    ['{"a":[1]}', [{ op: 'remove', path: '/a/length' }], 'missing'],
    ['{"a":{}}', [{ op: 'remove', path: '/a/constructor' }], 'missing'],
    ['{"a":{"b":1}}', [{ op: 'move', from: '/a', path: '/a/b' }], 'into itself'],
    ['{"a":1}', [{ op: 'replace', path: '/b', value: 1 }], 'missing'],
    ['{"a":"1"}', [{ op: 'test', path: '/a', value: 1 }], 'does not hold'],
    ['not json', [{ op: 'remove', path: '/a' }], 'not JSON'],
  ])('of %s fails as a whole', (before, operations, message) => {
    expect(() => patch(before, { op: 'test', path: '', value: 0 }, ...operations)).toThrow(
      PatchError,
    )
    expect(() => patch(before, ...operations)).toThrow(message)
  })

  it('keeps numbers as they are written, and compares them by value', () => {
    const before = '{"id":12345678901234567890,"price":1.10,"n":1e2}'
    const after = patch(
      before,
      { op: 'test', path: '/n', value: 100 },
      { op: 'copy', from: '/id', path: '/b' },
    )
    expect(after).toBe('{"id":12345678901234567890,"price":1.10,"n":1e2,"b":12345678901234567890}')
  })

  it('is rejected with integers that were rounded before, however deep', () => {
    const wrong = (value: unknown) =>
      findWrongChange({ patch: [{ op: 'add', path: '/a', value }] }).map(({ path }) => path)
    expect(wrong({ list: [2 ** 53] })).toEqual(['change.patch.0.value'])
    expect(wrong({ list: [2 ** 53 - 1, 1.5, '12345678901234567890'] })).toEqual([])
  })

  it('does not reach the prototype', () => {
    const value = { polluted: true }
    const after = patch('{}', { op: 'add', path: '/__proto__', value })
    expect(after).toBe('{"__proto__":{"polluted":true}}')
    expect(() => patch('{}', { op: 'add', path: '/__proto__/polluted', value: 1 })).toThrow(
      'missing',
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('does not double a body again and again', () => {
    const doubling = Array.from({ length: 50 }, (): PatchOperation => ({
      op: 'copy',
      from: '',
      path: '/-',
    }))
    const startedAt = performance.now()
    expect(() => patch('["xxx"]', ...doubling)).toThrow('larger than 2097152 bytes')
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  it('undoes what it did, whatever the document is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (document, value) => {
        const before = JSON.stringify({ document })
        const there = patch(before, { op: 'add', path: '/new', value })
        expect(JSON.parse(there)).toEqual(JSON.parse(JSON.stringify({ document, new: value })))
        expect(
          patch(there, { op: 'test', path: '/new', value }, { op: 'remove', path: '/new' }),
        ).toBe(before)
      }),
    )
  })
})
