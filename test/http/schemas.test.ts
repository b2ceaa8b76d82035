import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createValidatorCompiler } from '../../src/http/validation/validate.ts'
import { startTestService, type TestService } from '../service.ts'

const PARTS = ['body', 'querystring', 'params', 'headers'] as const

describe('the schemas of all routes', () => {
  const routes: RouteOptions[] = []
  let service: TestService

  beforeAll(async () => {
    service = await startTestService({}, (app) => {
      app.addHook('onRoute', (route) => void routes.push(route))
    })
  })
  afterAll(() => service.stop())

  it('compile, although that happens on first use', () => {
    const validator = createValidatorCompiler()
    const serializer = SerializerSelector()({}, {})
    let compiled = 0
    for (const { method, url, schema = {} } of routes) {
      const route = { method: String(method), url }
      for (const httpPart of PARTS) {
        const part = schema[httpPart]
        if (!part) continue
        expect(() => validator({ ...route, schema: part, httpPart })({}), url).not.toThrow()
        compiled++
      }
      for (const [httpStatus, response] of Object.entries(schema.response ?? {})) {
        if (!response || 'content' in response) continue
        expect(() => serializer({ ...route, schema: response, httpStatus }), url).not.toThrow()
        compiled++
      }
    }
    expect(compiled).toBeGreaterThan(500)
    const broken = { type: 'object', properties: { a: { type: 'nonsense' } } }
    const route = { method: 'GET', url: '/', schema: broken }
    expect(() => validator({ ...route, httpPart: 'body' })({})).toThrow('invalid')
    expect(() => serializer({ ...route, httpStatus: '200' })).toThrow('invalid')
  })
})
