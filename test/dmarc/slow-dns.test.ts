import { expect, it, vi } from 'vitest'
import { openNotifications } from '../../src/store/notifications.ts'
import { createLog } from '../../src/log.ts'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'
import { startDmarc } from './module.ts'

/** Responds only when it is released. */
function slowResolver(records: Records) {
  const resolver = mapResolver(records)
  let waiting: (() => void)[] = []
  let isSlow = true
  return {
    resolver: {
      ...resolver,
      async query(...[name, type, signal]: Parameters<typeof resolver.query>) {
        if (isSlow && !signal?.aborted)
          await new Promise<void>((resolve) => void waiting.push(resolve))
        return resolver.query(name, type, signal)
      },
    },
    slow: (yes: boolean) => {
      isSlow = yes
      if (yes) return
      waiting.forEach((release) => release())
      waiting = []
    },
    get waiting() {
      return waiting.length
    },
  }
}

it('shows the last answer of slow DNS, and announces the new one', async () => {
  const records: Records = {}
  const dns = slowResolver(records)
  dns.slow(false)
  const portreeve = await startDmarc({ resolver: dns.resolver, dnsWaitMs: 20 })
  const notifications = await openNotifications(portreeve.databaseUrl, createLog('silent'))
  const changes: unknown[] = []
  notifications.on('changed', (payload) => void changes.push(payload))
  try {
    const alice = await portreeve.addPerson('Alice')
    const { id } = await portreeve.addDomain(alice.token)
    const other = await portreeve.addDomain(alice.token, 'other.test')
    const read = async (which = id) =>
      (await portreeve.ask(`domains/${which}`, alice)).body.data.dns
    const announced = () => changes.filter((change) => JSON.stringify(change).includes(id)).length
    const before = announced()

    const published = 'v=DMARC1; p=none; rua=mailto:a@b.test'
    records['_dmarc.example.test TXT'] = [published]
    dns.slow(true)
    const last = await read()
    expect(last).toMatchObject({ published: null, configured: false })
    expect(last.checkedAt).not.toBeNull()
    dns.slow(false)
    await vi.waitFor(() => expect(announced()).toBe(before + 1))
    dns.slow(true)
    expect(await read()).toMatchObject({ published })
    expect(dns.waiting).toBe(0)

    // As after a restart: nothing is known yet.
    await portreeve.pool.query('update dmarc_domain set id = gen_random_uuid() where id = $1', [
      other.id,
    ])
    const [{ id: unknown }] = (
      await portreeve.pool.query(`select id from dmarc_domain where domain = 'other.test'`)
    ).rows as [{ id: string }]
    const nothing = { published: null, configured: null, checkedAt: null }
    expect(await read(unknown)).toMatchObject(nothing)
    dns.slow(false)
    await vi.waitFor(async () =>
      expect(await read(unknown)).toMatchObject({ published: null, configured: false }),
    )
  } finally {
    dns.slow(false)
    await notifications.close()
    await portreeve.stop()
  }
})
