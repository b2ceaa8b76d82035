import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import { exampleOf } from '../../web/src/api-reference/document/example.ts'
import { findOperations } from '../../web/src/api-reference/document/find-operations.ts'
import type { OpenApiDocument } from '../../web/src/api-reference/document/openapi.ts'
import { readReference, type Operation } from '../../web/src/api-reference/document/reference.ts'
import { allowedValues, fieldsOf, typeText } from '../../web/src/api-reference/document/schema.ts'
import { fieldId, parsePlace, placeHref } from '../../web/src/api-reference/location.ts'
import { ERRORS } from '../../web/src/api-reference/messages.ts'
import {
  isValidBody,
  missingValues,
  trialRequest,
  type TrialValues,
} from '../../web/src/api-reference/operation/trial-request.ts'
import {
  ACCOUNT_LIMITS,
  ADDRESS_LIMITS,
  limitsOf,
  rateText,
} from '../../web/src/api-reference/overview/limits.ts'
import { highlight } from '../../web/src/api-reference/samples/highlight.ts'
import { SAMPLE_LANGUAGES } from '../../web/src/api-reference/samples/languages.ts'
import { sampleRequestOf } from '../../web/src/api-reference/samples/sample-request.ts'

const BASE_URL = 'https://portreeve.example'
const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as OpenApiDocument
const { groups, operations, schemas } = readReference(document)

function operation(id: string): Operation {
  const found = operations.find((each) => each.id === id)
  if (!found) throw new Error(`openapi.json has no operation ${id}`)
  return found
}
const samples = (id: string) => {
  const request = sampleRequestOf(operation(id), schemas, BASE_URL)
  return Object.fromEntries(SAMPLE_LANGUAGES.map(({ value, write }) => [value, write(request)]))
}
const all = operations.flatMap(({ id }) =>
  Object.entries(samples(id)).map(([language, code]) => ({ id, language, code })),
)

describe('the operations', () => {
  it('are all of the document, in the order of its tags', () => {
    const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length
    expect(operations.length).toBe(count)
    expect(groups.map(({ name }) => name)).toEqual(document.tags?.map(({ name }) => name))
  })
  it('are found by all words of a search, in path, method, summary and parameters', () => {
    const found = (search: string) =>
      findOperations(groups, search).flatMap((group) => group.operations.map(({ id }) => id))
    expect(found('dns-check')).toEqual(['getDnsCheck'])
    expect(found('POST migrate retry')).toEqual(['retryMigration'])
    expect(found('starttls')).toEqual(['getSslCheck'])
    expect(found('report attacker')[0]).toBe(
      operations.find(({ summary }) => /^report an attacker/i.test(summary))?.id,
    )
    expect(found('  ')).toHaveLength(operations.length)
    expect(found('no operation has this')).toEqual([])
  })
  it('have ids that the address can name, beside the sections of the overview', () => {
    expect(parsePlace(placeHref('getDnsCheck', ['200', 'data', 'a/b %']))).toEqual({
      name: 'getDnsCheck',
      field: ['200', 'data', 'a/b %'],
    })
    expect(parsePlace('#%E0')).toEqual({ name: '%E0', field: [] })
    expect(parsePlace('')).toEqual({ name: '', field: [] })
    expect(fieldId(['body', 'a b'])).toBe('body/a%20b')
  })
})

describe('the samples', () => {
  it('exist for every operation, with the address of the service and without a token', () => {
    expect(all).toHaveLength(operations.length * 3)
    for (const { id, language, code } of all) {
      expect(code, `${id} ${language}`).toContain(BASE_URL)
      expect(code, `${id} ${language}`).not.toMatch(/prv_|undefined|\[object/)
      const isPublic = operation(id).access === 'public'
      expect(/PORTREEVE_(?:TOKEN|COOKIE)/.test(code), `${id} ${language}`).toBe(!isPublic)
    }
  })
  it('are valid shell, JavaScript and Python', () => {
    const of = (language: string) =>
      all.filter((each) => each.language === language).map(({ code }) => code)
    execFileSync('bash', ['-n'], { input: of('curl').join('\n') })
    for (const code of of('javascript')) expect(() => parseAst(code), code).not.toThrow()
    const parse = 'import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)'
    execFileSync('python3', ['-c', parse], { input: JSON.stringify(of('python')) })
  })
  it('send JSON in the way of each language', () => {
    expect(samples('createToken')).toMatchObject({
      curl: expect.stringContaining(`curl "${BASE_URL}/api/v1/tokens" \\\n`) as string,
      javascript: expect.stringContaining("method: 'POST'") as string,
      python: expect.stringContaining('requests.post(') as string,
    })
  })
  it('send what a shell passes on unchanged', () => {
    const [curl] = SAMPLE_LANGUAGES
    const text = String.raw`it's "quoted" $HOME \n ` + '`id`!'
    const code = curl.write({
      method: 'POST',
      url: BASE_URL,
      access: 'public',
      headers: [],
      body: { kind: 'text', type: 'text/plain', text },
      answer: 'json',
    })
    const echo = `curl() { printf '%s\\n' "$@"; }\n${code}`
    expect(execFileSync('bash', ['-c', echo], { encoding: 'utf8' }).split('\n')).toContain(text)
  })
  it('are colored without a change of the code', () => {
    for (const { code, language } of all) {
      const { code: name } = SAMPLE_LANGUAGES.find(({ value }) => value === language)!
      const tokens = highlight(code, name)
      expect(tokens.map(({ text }) => text).join('')).toBe(code)
      expect(tokens.length).toBeGreaterThan(1)
    }
  })
})

describe('the fields', () => {
  it('have types as a programmer reads them', () => {
    const text = (schema: Parameters<typeof typeText>[0]) => typeText(schema, schemas)
    expect(text({ type: 'array', items: { type: 'string' } })).toBe('string[]')
    expect(text({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).toBe('integer or null')
    expect(text({ $ref: '#/components/schemas/DnsResult' })).toBe('object')
    expect(text({})).toBe('any')
  })
  it('of alternatives that differ in what they require are one list', () => {
    const fields = fieldsOf({ $ref: '#/components/schemas/Connection' }, schemas)
    const named = Object.fromEntries(fields.map((field) => [field.name, field]))
    expect(named['host']).toMatchObject({ isRequired: true, isOption: false })
    expect(named['host']?.unless).toBeUndefined()
    expect(named['password']?.unless).toEqual(['accessToken', 'credentialId'])
    expect(named['port']?.isRequired).toBe(false)
  })
  it('of other alternatives are named by what tells them apart', () => {
    const fields = fieldsOf({ $ref: '#/components/schemas/NewChannel' }, schemas)
    expect(fields.slice(0, 2).map(({ name, isOption }) => [name, isOption])).toEqual([
      ['type: "email"', true],
      ['type: "webhook"', true],
    ])
  })
  it('list their allowed values, also of constants', () => {
    const values = [{ const: 'a' }, { const: 'b' }, { type: 'null' }]
    expect(allowedValues({ anyOf: values }, {})).toEqual(['a', 'b'])
    expect(allowedValues({ type: 'array', items: { enum: [1, 2] } }, {})).toEqual([1, 2])
  })
  it('end in schemas that contain themselves', () => {
    const own = {
      Tree: { type: 'object', properties: { next: { $ref: '#/components/schemas/Tree' } } },
    }
    const schema = { $ref: '#/components/schemas/Tree' }
    expect(fieldsOf(schema, own).map(({ name }) => name)).toEqual(['next'])
    expect(JSON.stringify(exampleOf({ type: 'application/json', schema }, own))).toContain('next')
    const circle = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } }
    expect(fieldsOf({ $ref: '#/components/schemas/A' }, circle)).toEqual([])
  })
})

describe('the request form', () => {
  const values = (given: Partial<TrialValues>): TrialValues => ({
    parameters: {},
    body: null,
    type: 'application/json',
    token: '',
    ...given,
  })
  it('sends the token alone, or the session of the browser', () => {
    const parameters = { 'query domain': 'münchen.example & co' }
    const withToken = trialRequest(operation('getDnsCheck'), values({ parameters, token: 'prv_x' }))
    expect(withToken.url).toBe('/api/v1/dns-check?domain=m%C3%BCnchen.example+%26+co')
    expect(withToken.init.credentials).toBe('omit')
    expect(new Headers(withToken.init.headers).get('authorization')).toBe('Bearer prv_x')
    const withSession = trialRequest(operation('getDnsCheck'), values({ parameters }))
    expect(withSession.init.credentials).toBe('same-origin')
    expect(new Headers(withSession.init.headers).has('authorization')).toBe(false)
  })
  it('keeps a path parameter in its segment', () => {
    const { url } = trialRequest(
      operation('deleteToken'),
      values({ parameters: { 'path id': '../accounts?x' } }),
    )
    expect(url).toBe('/api/v1/tokens/..%2Faccounts%3Fx')
  })
  it('names missing parameters and bodies that are not JSON', () => {
    expect(missingValues(operation('getDnsCheck'), values({}))).toEqual(['domain'])
    expect(isValidBody(values({ body: '{"a": }' }))).toBe(false)
    expect(isValidBody(values({ body: '{"a": 1}' }))).toBe(true)
    expect(isValidBody(values({ body: 'a,b', type: 'text/csv' }))).toBe(true)
  })
})

describe('the overview', () => {
  const [page = ''] = readFileSync('docs/limits.md', 'utf8').split('## Storage')
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const row = (name: string) => rows.find(([, cell]) => cell === name)

  it('has the limits of docs/limits.md, of operations that exist', () => {
    for (const limit of ACCOUNT_LIMITS) {
      const cells = row(limit.name)
      expect(cells?.[2], limit.name).toBe(rateText(limit) ?? '')
      expect(cells?.[3], limit.name).toBe(limit.atOnce?.toLocaleString('en'))
    }
    for (const limit of ADDRESS_LIMITS.filter(({ atOnce }) => atOnce !== undefined)) {
      const cells = row(limit.name)
      expect(cells?.[2], limit.name).toBe(rateText(limit))
      expect(cells?.[3], limit.name).toBe(limit.atOnce?.toLocaleString('en'))
    }
    const listed = rows.filter(
      ([, , rate, atOnce]) => /^[\d,]+$/.test(atOnce ?? '') && rate !== '---',
    )
    const limits = [...ACCOUNT_LIMITS, ...ADDRESS_LIMITS].filter(({ atOnce }) => atOnce)
    expect(limits.map(({ name }) => name)).toEqual(listed.map(([, name]) => name))
    const ids = [...ACCOUNT_LIMITS, ...ADDRESS_LIMITS].flatMap((limit) => limit.operations)
    expect(ids.filter((id) => !operations.some((each) => each.id === id))).toEqual([])
    expect(limitsOf('getDnsCheck')).toHaveLength(1)
  })
  it('has the limit of attack reports of docs/limits.md', () => {
    const [{ limit } = { limit: null }] = limitsOf('reportAttacker')
    expect(limit && rateText(limit)).toBe('120 in 5 minutes')
    expect(readFileSync('docs/limits.md', 'utf8')).toContain('120 requests in five minutes')
  })
  it('explains every error code of the document, and no other', () => {
    const codes = schemas['Failure']?.properties?.['code']?.enum
    expect(ERRORS.map(({ code }) => code).toSorted()).toEqual((codes as string[]).toSorted())
  })
})
