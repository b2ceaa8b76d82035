import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { silence, startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { startRoom, until, type Person, type Room } from './room.ts'

describe('sending alerts', () => {
  let database: FreshDatabase
  let silent: Receiver
  let honest: Receiver
  const rooms: Room[] = []

  beforeEach(async () => {
    database = await freshDatabase()
    ;[silent, honest] = await Promise.all([startReceiver(silence), startReceiver(status(204))])
  })
  afterEach(async () => {
    silent.hangUp()
    await Promise.all(rooms.splice(0).map((room) => room.stop()))
    await Promise.all([silent.close(), honest.close()])
    await database.drop()
  })

  async function addChannel(room: Room, { token }: Person, receiver: Receiver, name: string): Promise<void> {
    const body = { type: 'webhook', url: `${receiver.origin}/${name}` }
    expect((await room.call(token, 'POST', 'alerts/channels', body)).status).toBe(201)
  }

  it.each([1, 2])(
    'does not wait for one account’s receivers that never answer, with %d instances',
    { timeout: 40_000 },
    async (instances) => {
      for (let n = 0; n < instances; n++) rooms.push(await startRoom(database.url))
      const [room] = rooms
      if (!room) throw new Error('no room')
      const [alice, bob] = [await room.addPerson('Alice'), await room.addPerson('Bob')]
      for (let n = 0; n < 10; n++) await addChannel(room, alice, silent, `a${n}`)
      await addChannel(room, bob, honest, 'b')
      for (let n = 0; n < 6; n++) await room.raise(alice.id, `a${n}.test`)
      await until(
        () => silent.received.length,
        (count) => count >= 5,
      )
      for (let n = 0; n < 30; n++) await room.raise(bob.id, `b${n}.test`)
      const begun = performance.now()
      await until(
        () => honest.received.length,
        (count) => count === 30,
        15,
      )
      // One request to a silent receiver takes twenty seconds.
      expect(performance.now() - begun).toBeLessThan(15_000)
      expect(silent.received.length).toBe(5)
    },
  )
})
