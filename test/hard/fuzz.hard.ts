import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService, type Person } from '../service.ts'
import { figure } from './figures.ts'
import { textOf, valueOf, type Schema } from './arbitrary.ts'

type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Operation = {
  method: string
  path: string
  parameters: Parameter[]
  body: Schema | null
}
type Document = {
  paths: Record<
    string,
    Record<
      string,
      { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> } }
    >
  >
}

/** Requests for each operation. */
const RUNS = 60

/** Statuses for failures of other servers or of the database. */
const OTHERS = new Set([502, 503, 504])

let portreeve: TestService
let alice: Person
let operations: Operation[]

beforeAll(async () => {
  portreeve = await startTestService({
    ALLOW_PRIVATE_TARGETS: 'false',
    DNS_SERVERS: '127.0.0.1:1',
    ROLES: 'web',
    LOG_LEVEL: 'silent',
  })
  alice = await portreeve.addPerson('Alice', { plan: 'enterprise', admin: true })
  operations = operationsOf((await (await portreeve.request('/openapi.json')).json()) as Document)
})
afterAll(() => portreeve.stop())

function operationsOf({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      body: requestBody?.content['application/json']?.schema ?? null,
    })),
  )
}

/** An event stream never ends, and these routes would delete the account that calls them. */
const LEFT_OUT = /\/events$|\/account\/erase$|\/api\/auth\/|DELETE \/api\/v1\/tokens/

function requestOf({ path, parameters, body }: Operation) {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const texts = (those: Parameter[], requireAll: boolean) =>
    fc.record(
      Object.fromEntries(those.map(({ name, schema }) => [name, textOf(schema)])),
      requireAll ? {} : { requiredKeys: [] },
    )
  return fc
    .record({
      path: texts(inPath, true),
      query: texts(inQuery, false),
      body: body ? valueOf(body) : fc.constant(undefined),
    })
    .map((made) => {
      const filled = path.replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) => encodeURIComponent(wellFormed(made.path[name] ?? '')) || 'x',
      )
      const query = new URLSearchParams(
        Object.entries(made.query).map(([name, value]): [string, string] => [
          name,
          wellFormed(value ?? ''),
        ]),
      ).toString()
      return { target: query ? `${filled}?${query}` : filled, body: withMore(made.body) }
    })
}

/** Unknown fields must be ignored, above all those that are columns of many tables. */
function withMore(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return { noField: 1, accountId: STRANGER, createdAt: '2001-01-01T00:00:00.000Z', ...body }
}

const STRANGER = '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42'

const FAILURE = { success: false, error: expect.any(String), code: expect.any(String) }

/** Other forms of failures: those of AbuseIPDB and of CrowdSec’s local API. */
const FAILURES_BY_PATH: [path: string, failure: object][] = [
  ['/api/v2/', { errors: [{ detail: expect.any(String), status: expect.any(Number) }] }],
  ['/v1/', { message: expect.any(String) }],
]

/** Whether a failure says in a sentence what is wrong. Captures answer with text. */
function expectFailure({ method, path }: Operation, status: number, text: string): void {
  if (path.startsWith('/webhooks/')) return expect(text === '').toBe(method === 'HEAD')
  const [, failure] = FAILURES_BY_PATH.find(([start]) => path.startsWith(start)) ?? []
  // A head that is too large is rejected before its path is known.
  expect(JSON.parse(text)).toMatchObject(failure && status !== 431 ? failure : FAILURE)
}

const wellFormed = (text: string) => text.toWellFormed()

describe('every route of openapi.json', () => {
  it('answers whatever is sent to it with a sentence, never with 500', async () => {
    const seen = new Map<number, number>()
    const wrong: string[] = []
    const tried = operations.filter(({ method, path }) => !LEFT_OUT.test(`${method} ${path}`))
    for (const operation of tried) {
      const property = fc.asyncProperty(requestOf(operation), async ({ target, body }) => {
        const headers: Record<string, string> =
          body === undefined ? {} : { 'content-type': 'application/json' }
        const init = {
          method: operation.method,
          token: alice.token,
          headers,
          redirect: 'manual' as const,
        }
        const answer = await portreeve.request(target, {
          ...init,
          body: body === undefined ? null : JSON.stringify(body),
        })
        const text = await answer.text()
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        if (answer.status >= 500 && !OTHERS.has(answer.status))
          throw new Error(`${answer.status}: ${text.slice(0, 200)}`)
        if (answer.status >= 400) expectFailure(operation, answer.status, text)
      })
      const result = await fc.check(property, {
        numRuns: RUNS,
        endOnFailure: true,
        interruptAfterTimeLimit: 15_000,
      })
      if (result.failed && result.counterexample) {
        const [{ target, body }] = result.counterexample
        const cause =
          result.errorInstance instanceof Error
            ? result.errorInstance.message
            : String(result.errorInstance)
        wrong.push(
          `${operation.method} ${target} ${JSON.stringify(body)?.slice(0, 300)} → ${cause}`,
        )
      }
    }
    const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
    const statuses = [...seen]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${status}: ${count}`)
    figure(
      `${total.toLocaleString('en')} requests to ${tried.length} operations of openapi.json`,
      statuses.join(', '),
    )
    expect(wrong).toEqual([])
  })
})
