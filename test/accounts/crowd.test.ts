import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'

let portreeve: TestService
beforeAll(async () => {
  // At the usual cost of hashing, which is what could delay the others.
  const options = { passwordCost: undefined }
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.0/8' }, undefined, options)
})
afterAll(() => portreeve.stop())

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

it('keeps other requests fast during 100 concurrent sign-ins', async () => {
  const { token } = await portreeve.addPerson('Alice')
  const headers = (i: number) => ({
    'content-type': 'application/json',
    origin: new URL(portreeve.url).origin,
    'x-forwarded-for': `203.0.${i}.7`,
  })
  const started = performance.now()
  const state = { isDone: false }
  const crowd = Promise.all(
    Array.from({ length: 100 }, (_, i) => {
      const body = JSON.stringify({
        email: `person${i}@people.test`,
        password: 'a guessed password',
      })
      return portreeve.request('/api/auth/sign-in/email', {
        method: 'POST',
        headers: headers(i),
        body,
      })
    }),
  ).finally(() => (state.isDone = true))

  const waits: Record<string, number[]> = {
    '/healthz': [],
    '/api/v1/tokens': [],
    '/openapi.json': [],
  }
  while (!state.isDone) {
    for (const [path, times] of Object.entries(waits)) {
      const asked = performance.now()
      const answer = await portreeve.request(path, { token })
      await answer.arrayBuffer()
      expect([path, answer.status]).toEqual([path, 200])
      times.push(performance.now() - asked)
    }
  }
  const answers = await crowd
  const whole = performance.now() - started
  const statuses = Object.groupBy(answers, ({ status }) => status)
  const figures = Object.entries(waits).map(([path, times]) => [
    path,
    times.length,
    median(times),
    Math.max(...times),
  ])
  console.log(
    JSON.stringify({
      whole,
      statuses: Object.entries(statuses).map(([s, a]) => [s, a?.length]),
      figures,
    }),
  )

  // Every request gets a response: wrong password, or the time to wait.
  expect(Object.keys(statuses).every((status) => ['401', '503'].includes(status))).toBe(true)
  for (const refused of statuses[503] ?? [])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(statuses[401]?.length).toBeGreaterThan(25)
  // Other requests do not wait for the password hashes.
  for (const times of Object.values(waits)) expect(median(times)).toBeLessThan(whole / 5)
}, 180_000)
