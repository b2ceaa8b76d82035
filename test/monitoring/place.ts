import { freshDatabase } from '../database.ts'
import { startLists } from '../servers/blacklists.ts'
import { startDns } from '../servers/dns.ts'
import { startSink } from '../servers/mail-sink.ts'
import { startMonitoring } from './module.ts'

/** Starts blocklists without listings, a DNS server, and a mail relay. */
export async function startPlace() {
  const [lists, sink, dns, database] = await Promise.all([
    startLists(),
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
