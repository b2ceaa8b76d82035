import { Facts } from '../../ui/lists/facts.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import type { PeerList } from './api.ts'
import { Fingerprint } from './fingerprint.tsx'
import { federation as messages } from './messages.ts'

/** What the administrator of another installation needs of this one. */
export function OwnIdentity({ url, fingerprint }: PeerList['own']) {
  return (
    <Section title={messages.own}>
      <p>
        <Muted>{messages.ownText}</Muted>
      </p>
      <Facts
        facts={[
          [messages.url, <code key="url">{url}</code>],
          [messages.fingerprint, <Fingerprint key="fingerprint" value={fingerprint} />],
        ]}
      />
    </Section>
  )
}
