import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { captureOf, reportOf, startSender } from '../deploy/load.ts'
import { makeEndpoints, startPlace, type Place } from './place.ts'

const MINUTES = 4
const SOURCES = Array.from({ length: 250 }, (_, n) => `127.1.${n}.1`)

let place: Place
beforeAll(async () => void (place = await startPlace()))
afterAll(() => place.stop())

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

describe('hours of use in some minutes', () => {
  it('leave memory where it was', async () => {
    const tokens = await makeEndpoints(place, 20)
    const senders = [
      startSender(place.url, captureOf(tokens), { connections: 8 }),
      startSender(place.url, reportOf(100), { from: SOURCES, connections: 4 }),
    ]
    let requests = 0
    const stopping = new AbortController()
    const browsing = (async () => {
      const paths = [
        '/api/v1/account',
        '/api/webhook/endpoints',
        '/api/v1/abuse/stats',
        '/api/v1/monitoring/hosts',
        '/api/v1/nothing',
        '/',
      ]
      while (!stopping.signal.aborted) {
        const answer = await place.api(paths[requests++ % paths.length] ?? '')
        await answer.arrayBuffer()
      }
    })()
    const samples: number[] = []
    for (let second = 0; second < MINUTES * 60; second++) {
      await sleep(1_000)
      samples.push(residentMb(place.instance.child.pid ?? 0))
    }
    stopping.abort()
    await browsing
    const [captures, reports] = await Promise.all(senders.map((sender) => sender.stop()))
    const mean = (from: number, to: number) => {
      const part = samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * to))
      return part.reduce((sum, value) => sum + value, 0) / part.length
    }
    const [early, late] = [mean(0.25, 0.5), mean(0.75, 1)]
    const sent = (captures?.acknowledged.size ?? 0) + (reports?.acknowledged.size ?? 0) + requests
    console.log(
      `soak of ${MINUTES} minutes: ${sent} requests (as many as two hours at ${Math.round(sent / 7200)} a second); resident ` +
        `${early.toFixed(0)} MB in the second quarter, ${late.toFixed(0)} MB in the last, at most ${Math.max(...samples).toFixed(0)} MB`,
    )
    expect(late).toBeLessThan(early * 1.15 + 20)
  })
})
