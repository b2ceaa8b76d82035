import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { figure } from './figures.ts'
import { startPlace, type Place } from './place.ts'

const MANY = 1_500

let place: Place
beforeAll(async () => void (place = await startPlace()))
afterAll(() => place.stop())

function trickle(
  port: number,
  begin: string,
  piece: string,
): { socket: Socket; closed: Promise<number> } {
  const begun = performance.now()
  const socket = connect(port, '127.0.0.1', () => socket.write(begin))
  const timer = setInterval(() => socket.writable && socket.write(piece), 1_000)
  const closed = new Promise<number>((resolve) => {
    socket
      .on('error', () => {})
      .on('close', () => {
        clearInterval(timer)
        resolve(performance.now() - begun)
      })
  })
  socket.resume()
  return { socket, closed }
}

async function slowestOf(requests: number): Promise<number> {
  let slowest = 0
  for (let n = 0; n < requests; n++) {
    const begun = performance.now()
    const answer = await place.api('/api/v1/account')
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    slowest = Math.max(slowest, performance.now() - begun)
    await sleep(50)
  }
  return slowest
}

describe(`${MANY} clients that trickle`, () => {
  it.each([
    ['their headers', 'GET / HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n', 20_000],
    [
      'their body',
      'POST /api/v1/abuse/report HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
      ' ',
      70_000,
    ],
  ])('%s delay nobody else, and are let go', async (what, begin, piece, limit) => {
    const port = Number(new URL(place.url).port)
    const clients = Array.from({ length: MANY }, () => trickle(port, begin, piece))
    await sleep(1_000)
    const slowest = await slowestOf(60)
    const lasted = await Promise.all(clients.map(({ closed }) => closed))
    const longest = Math.max(...lasted)
    figure(
      `${MANY.toLocaleString('en')} clients trickle ${what}`,
      `the slowest of 60 requests took ${Math.round(slowest)} ms; the last was let go after ${(longest / 1000).toFixed(1)} s`,
    )
    expect(slowest).toBeLessThan(2_000)
    expect(longest).toBeLessThan(limit)
  })
})
