import { expect, vi } from 'vitest'
import type { TestService } from '../service.ts'

/** Two sensors of different providers: what both report is listed. */
export const SENSORS = ['90.1.1.1', '51.77.1.1'] as const

/** Reports an attack. The service must trust X-Forwarded-For. */
export async function report(
  portreeve: TestService,
  from: string,
  body: object,
  headers: Record<string, string> = {},
) {
  const answer = await portreeve.request('/api/v1/abuse/report', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from, ...headers },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as { success: boolean; score: number; listingState: string }
}

/** Makes the sensors, and waits until they count as such. */
export async function addSensors(portreeve: TestService, adminToken: string): Promise<void> {
  for (const cidr of SENSORS) {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ cidr })
    const added = await portreeve.request('/api/v1/abuse/sensors', {
      method: 'POST',
      token: adminToken,
      headers,
      body,
    })
    if (!added.ok) throw new Error(`the sensor was answered ${added.status}: ${await added.text()}`)
  }
  await untilSensorsCount(portreeve)
}

/** Reports by newcomers alone give no score above 30. */
export async function untilSensorsCount(portreeve: TestService): Promise<void> {
  let last = 0
  const scoreBy = async (from: string, index: number) =>
    (await report(portreeve, from, { ip: `8.8.${index}.${last}`, service: 'imap', count: 50 }))
      .score
  const least = async () => {
    last += 1
    return Math.min(...(await Promise.all(SENSORS.map(scoreBy))))
  }
  await vi.waitFor(async () => expect(await least()).toBeGreaterThan(30), {
    timeout: 15_000,
    interval: 100,
  })
}
