import { serviceUrl } from '../../base-path.ts'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { exportFile as messages } from './messages.ts'

/** How firewalls download the list of this workspace. */
export function ExportSection() {
  const url = `${serviceUrl()}/api/v1/abuse/fleet/export?format=nftables`
  return (
    <Section title={messages.title}>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <Snippet
        what={messages.command}
        text={`curl --fail --compressed -H 'X-Api-Key: ${messages.key}' '${url}'`}
      />
      <p>
        <Muted>{messages.formats}</Muted>
      </p>
    </Section>
  )
}
