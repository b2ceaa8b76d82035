import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { silence, startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { startAlerts, until, type Person, type AlertsTest } from './module.ts'

describe('sending alerts', () => {
  let database: FreshDatabase
  let silent: Receiver
  let honest: Receiver
  const instances: AlertsTest[] = []

  beforeEach(async () => {
    database = await freshDatabase()
    ;[silent, honest] = await Promise.all([startReceiver(silence), startReceiver(status(204))])
  })
  afterEach(async () => {
    silent.hangUp()
    await Promise.all(instances.splice(0).map((portreeve) => portreeve.stop()))
    await Promise.all([silent.close(), honest.close()])
    await database.drop()
  })

  async function addChannel(
    portreeve: AlertsTest,
    { token }: Person,
    receiver: Receiver,
    name: string,
  ): Promise<void> {
    const body = { type: 'webhook', url: `${receiver.origin}/${name}` }
    expect((await portreeve.call(token, 'POST', 'alerts/channels', body)).status).toBe(201)
  }

  it.each([1, 2])(
    'does not wait for one account’s receivers that never answer, with %d instances',
    { timeout: 40_000 },
    async (instanceCount) => {
      for (let n = 0; n < instanceCount; n++) instances.push(await startAlerts(database.url))
      const [portreeve] = instances
      if (!portreeve) throw new Error('no room')
      const [alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
      for (let n = 0; n < 10; n++) await addChannel(portreeve, alice, silent, `a${n}`)
      await addChannel(portreeve, bob, honest, 'b')
      for (let n = 0; n < 6; n++) await portreeve.raise(alice.id, `a${n}.test`)
      await until(
        () => silent.received.length,
        (count) => count >= 5,
      )
      for (let n = 0; n < 30; n++) await portreeve.raise(bob.id, `b${n}.test`)
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
