import type { Browser } from 'playwright-core'
import { startTestService, type TestService } from '../service.ts'
import { IP, startLists } from '../servers/blacklists.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'

/** Starts a service with a mail relay, DNS and a browser. */
export type MailPlace = {
  portreeve: TestService
  browser: Browser
  /** Every blocklist of the catalogue. */
  lists: Rbldnsd
  dns: DnsServer
  /** The relay for outgoing mail. */
  sink: Sink
  stop(): Promise<void>
}

/** A host whose address has reverse DNS and which blocklists may list. */
export const NAME = 'mail.example.test'

export async function startMailPlace(): Promise<MailPlace> {
  const [lists, dns, sink] = await Promise.all([
    startLists({}, { ttl: 1, negativeTtl: 1 }),
    startDns(),
    startSink(),
  ])
  dns.records[`${NAME} A`] = [IP]
  dns.records[`${NAME} MX`] = [`10 ${NAME}`]
  dns.records[`${IP.split('.').toReversed().join('.')}.in-addr.arpa PTR`] = [NAME]
  const portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    SMTP_URL: sink.url,
    MAIL_FROM: 'Portreeve <alerts@portreeve.test>',
  })
  const browser = await sharedChromium()
  return {
    portreeve,
    browser,
    lists,
    dns,
    sink,
    async stop() {
      await closeContexts(browser)
      await portreeve.stop()
      await Promise.all([lists.stop(), dns.close(), sink.stop()])
    },
  }
}
