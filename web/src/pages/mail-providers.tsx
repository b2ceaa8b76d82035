import { useQuery } from '@tanstack/react-query'
import { mailClientsQuery } from '../mail-providers/api.ts'
import { ClientCard } from '../mail-providers/client-card.tsx'
import { page as messages } from '../mail-providers/messages.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Page, Section } from '../ui/layout/page.tsx'

/** The clients of this service at the providers of mailboxes, for administrators. */
export function Screen() {
  const { data, error } = useQuery(mailClientsQuery)
  return (
    <Page title={messages.title} lead={messages.lead}>
      <LoadingOrError there={data} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {data && (
        <>
          <Section title={messages.redirectUri}>
            <Muted>{messages.redirectUriHint}</Muted>
            <Snippet what={messages.redirectUriCopy} text={data.redirectUri} />
          </Section>
          {data.clients.map((client) => (
            <ClientCard key={client.provider} client={client} />
          ))}
        </>
      )}
    </Page>
  )
}
