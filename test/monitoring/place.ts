import { freshDatabase } from '../database.ts'
import { startLists } from '../servers/blacklists.ts'
import { startDns } from '../servers/dns.ts'
import { startSink } from '../servers/mail-sink.ts'
import { startMonitoring } from './module.ts'

/**
 * A room with all that it meets besides what it watches: lists that list nothing, a DNS, and a
 * relay that takes its mails.
 */
export async function startPlace() {
  const [lists, sink, dns, database] = await Promise.all([
    startLists({}, { ttl: 1, negativeTtl: 1 }),
    startSink(),
    startDns(),
    freshDatabase(),
  ])
  const portreeve = await startMonitoring(database.url, { lists, dns, smtpUrl: sink.url })
  return {
    portreeve,
    dns,
    sink,
    stop: async () => {
      await portreeve.stop()
      await Promise.all([lists.stop(), sink.stop(), dns.close(), database.drop()])
    },
  }
}
