import { inGuide } from '../frame/guide-page.ts'
import { useQuery } from '@tanstack/react-query'
import {
  mailCredentialsQuery,
  mailProvidersQuery,
  type MailCredential,
} from '../imap/credentials.ts'
import { AddSignIn } from '../sign-ins/add-sign-in.tsx'
import { CertificateState } from '../sign-ins/certificate-state.tsx'
import { form, page as messages } from '../sign-ins/messages.ts'
import { SignInActions } from '../sign-ins/sign-in-actions.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Card, Muted, Page, Section } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { DateText } from '../ui/text/date-text.tsx'

export function Screen() {
  const { data: credentials, error } = useQuery(mailCredentialsQuery)
  return (
    <Page
      wide
      title={messages.title}
      above={<BackLink to="/migrations">{messages.back}</BackLink>}
      lead={messages.lead}
    >
      <LoadingOrError there={credentials} error={error} lines={3} shape="table">
        {messages.loading}
      </LoadingOrError>
      {credentials?.length === 0 && (
        <Empty icon="key" title={messages.empty}>
          <p>
            <Muted>{messages.emptyText}</Muted>
          </p>
        </Empty>
      )}
      {credentials && credentials.length > 0 && (
        <Table caption={messages.caption} quiet columns={[...messages.columns]}>
          {credentials.map((credential) => (
            <SignInRow key={credential.id} credential={credential} />
          ))}
        </Table>
      )}
      <Section title={form.title}>
        <Muted>
          {form.lead} <a href={inGuide('organization-sign-in.html')}>{form.guide}</a>.
        </Muted>
        <Card>
          <AddSignIn />
        </Card>
      </Section>
    </Page>
  )
}

function SignInRow({ credential }: { credential: MailCredential }) {
  const { kind, provider, account, clientId, state, problem, certificate, keepUntil } = credential
  const { data } = useQuery(mailProvidersQuery)
  const known = [...(data?.providers ?? []), ...(data?.forAdministrators ?? [])]
  const name = known.find(({ id }) => id === provider)?.name ?? provider
  return (
    <tr>
      <th scope="row">
        {account}
        <small>{messages.kinds[kind](name)}</small>
        {clientId !== null && <small>{messages.clientId(clientId)}</small>}
      </th>
      <td>
        {state === 'valid' ? (
          <Status tone="good">{messages.valid}</Status>
        ) : (
          <Status tone="warn">{kind === 'person' ? messages.ended : messages.rejected}</Status>
        )}
        {problem !== null && <small>{problem}</small>}
        {certificate && <CertificateState certificate={certificate} />}
      </td>
      <td>
        <Muted>
          <DateText at={keepUntil} />
        </Muted>
      </td>
      <td>
        <SignInActions credential={credential} />
      </td>
    </tr>
  )
}
