import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/http/limits/server-limits.ts'
import { sharedService } from '../service.ts'
import { runCases } from './run-cases.ts'

type Input = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
  /** A body that is sent in gzip. */
  gzip?: string
}

const service = await sharedService()

const JSON_TYPE = { 'content-type': 'application/json' }

runCases('requests.json', async ({ method = 'GET', path, headers, body, gzip }: Input) => {
  const sent = gzip === undefined ? body : gzipSync(gzip)
  const coding = gzip === undefined ? {} : { 'content-encoding': 'gzip' }
  const answer = await service.request(path, {
    method,
    headers: { ...(sent !== undefined && JSON_TYPE), ...coding, ...headers },
    ...(sent !== undefined && { body: sent }),
  })
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: await answer.json(),
  }
})

it('limits the decoded bytes of a body in gzip', async () => {
  const comment = ' '.repeat(MAX_BODY_BYTES)
  const answer = await service.request('/api/v1/abuse/report', {
    method: 'POST',
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync(`{"ip":"81.2.69.172","service":"ssh"}${comment}`),
  })
  expect(answer.status).toBe(413)
})
