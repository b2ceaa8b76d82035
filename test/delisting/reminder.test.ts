import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { EMAIL, startPlace, stepOf, type Place } from './place.ts'
import type { Process } from './module.ts'

const WORDS = {
  cause: 'A guessed password sent spam.',
  fix: 'Password changed on 20 November 2026.',
}
const DAY = 24

let place: Place
beforeAll(async () => void (place = await startPlace()))
beforeEach(async () => {
  await place.reset()
  await place.list({ [EMAIL]: '127.0.0.2 Spam seen at a trap' })
})
afterAll(() => place.stop())

/** The mail has gone out, and six days have passed. */
async function waitSixDays(): Promise<Process> {
  const process = await place.begin(WORDS)
  await place.portreeve.tend()
  await place.portreeve.pass(6 * DAY)
  expect(place.sink.mails.length).toBe(1)
  return process
}

describe('the reminder of a mail', () => {
  it('is sent once, after a week without action, and does not extend the deadline', async () => {
    const process = await waitSixDays()
    const { deadlineAt } = stepOf(await place.read(process.id), EMAIL)
    await place.portreeve.pass(1.5 * DAY)
    const [first, reminder] = place.sink.mails
    expect(reminder).toMatchObject({
      to: first?.to,
      replyTo: [{ address: 'alice@people.test' }],
      subject: `Re: Delist IP: ${IP}`,
      inReplyTo: first?.messageId,
    })
    expect(reminder?.messageId).not.toBe(first?.messageId)
    for (const part of [
      'on 2026-11-21 I asked you to remove',
      'Spam seen at a trap',
      `> ${WORDS.fix}`,
    ]) {
      expect(reminder?.text).toContain(part)
    }
    const reminded = await place.read(process.id)
    expect(stepOf(reminded, EMAIL)).toMatchObject({ status: 'waiting', deadlineAt })
    expect(stepOf(reminded, EMAIL).request?.messageId).toBe(first?.messageId)
    expect(reminded.events.map(({ text }) => text)).toContain(
      'The relay accepted the reminder. Response: 250 taken as 42',
    )
    await place.portreeve.pass(8 * DAY)
    expect(place.sink.mails.length).toBe(2)
    expect(stepOf(await place.read(process.id), EMAIL)).toMatchObject({
      status: 'failed',
      outcome: 'still-listed',
    })
  })

  it('is not sent to a list that has removed the address', async () => {
    const process = await waitSixDays()
    await place.list({ [EMAIL]: {} })
    await place.portreeve.pass(3 * DAY)
    expect(await place.read(process.id)).toMatchObject({ status: 'completed' })
    expect(place.sink.mails.length).toBe(1)
  })

  it('is not sent again when the relay may have accepted it', async () => {
    await waitSixDays()
    place.sink.behaviour = 'hanging up'
    await place.portreeve.pass(1.5 * DAY)
    place.sink.behaviour = 'taking'
    await place.portreeve.pass(5 * DAY)
    expect(place.sink.mails.length).toBe(2)
  })

  it('is retried at the next check while the relay is busy, and abandoned when the relay rejects it', async () => {
    const process = await waitSixDays()
    place.sink.behaviour = 'busy'
    await place.portreeve.pass(1.5 * DAY)
    expect(place.sink.mails.length).toBe(1)
    place.sink.behaviour = 'refusing'
    await place.portreeve.pass(1 * DAY)
    place.sink.behaviour = 'taking'
    await place.portreeve.pass(3 * DAY)
    expect(place.sink.mails.length).toBe(1)
    expect(stepOf(await place.read(process.id), EMAIL)).toMatchObject({
      status: 'waiting',
      outcome: null,
    })
  })

  it('waits while the reverse DNS does not lead back to the address', async () => {
    await waitSixDays()
    place.dns.records['4.4.8.8.in-addr.arpa PTR'] = []
    await place.portreeve.pass(2 * DAY)
    expect(place.sink.mails.length).toBe(1)
    place.dns.records['4.4.8.8.in-addr.arpa PTR'] = ['mail.alice.example']
    await place.portreeve.pass(1.5 * DAY)
    expect(place.sink.mails.length).toBe(2)
  })

  it('is left to a person who wrote to the blocklist directly', async () => {
    const bare = await place.another({ relay: false })
    const process = await place.begin(WORDS)
    await bare.tend()
    expect((await place.act(process, EMAIL, 'submitted')).status).toBe(200)
    await place.portreeve.pass(10 * DAY)
    expect(place.sink.mails).toEqual([])
  })
})
