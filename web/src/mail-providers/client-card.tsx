import { useQueryClient } from '@tanstack/react-query'
import { showToast } from '../toasts.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status, type Tone } from '../ui/feedback/status.tsx'
import { CertificateField } from '../sign-ins/certificate-field.tsx'
import { CertificateState } from '../sign-ins/certificate-state.tsx'
import { certificate as certificateMessages } from '../sign-ins/messages.ts'
import { FieldRow, Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Card, Muted, Section } from '../ui/layout/page.tsx'
import { mailClients, mailClientsQuery, type MailClient } from './api.ts'
import { client as messages, guides } from './messages.ts'

/** One provider: its state, the client of this service, and how to register it. */
export function ClientCard({ client }: { client: MailClient }) {
  const { provider, name, origin, problem } = client
  const [tone, state] = stateOf(client)
  return (
    <Section title={name}>
      <Card>
        <Status tone={tone}>{state}</Status>
        {client.certificate && <CertificateState certificate={client.certificate} />}
        {problem !== null && <Notice tone="bad">{problem}</Notice>}
        {origin === 'environment' ? (
          <Muted>{messages.environment(provider)}</Muted>
        ) : (
          <ClientForm client={client} />
        )}
        <Disclosure summary={messages.guide}>
          <ol>
            {guides[provider].map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </Disclosure>
      </Card>
    </Section>
  )
}

function stateOf({ origin, problem }: MailClient): [Tone, string] {
  if (origin === null) return ['unknown', messages.states.none]
  if (problem !== null) return ['bad', messages.states.rejected]
  return ['good', messages.states[origin]]
}

function ClientForm({ client }: { client: MailClient }) {
  const { provider, name, origin, clientId, hasSecret, certificate, tenant } = client
  const queries = useQueryClient()

  async function save(values: Record<string, string>): Promise<void> {
    const textOf = (field: string) => (values[field] ?? '').trim()
    const [clientSecret, chosenTenant] = [textOf('clientSecret'), textOf('tenant')]
    const { clientCertificate } = values
    if (clientSecret && clientCertificate) throw new Error(certificateMessages.bothSecrets)
    await mailClients.set(provider, {
      clientId: textOf('clientId'),
      ...(clientSecret && { clientSecret }),
      ...(clientCertificate && { clientCertificate }),
      ...(chosenTenant && { tenant: chosenTenant }),
    })
    await queries.invalidateQueries({ queryKey: ['mail-providers'] })
    showToast({ text: messages.saved(name) })
  }
  async function remove(): Promise<void> {
    await mailClients.remove(provider)
    await queries.invalidateQueries(mailClientsQuery)
  }

  return (
    <Form
      key={`${clientId} ${hasSecret} ${certificate?.thumbprint}`}
      submit={messages.save}
      check={wrongClient}
      onSubmit={save}
      aside={
        origin !== null && (
          <ConfirmButton
            label={messages.remove}
            about={name}
            title={messages.removeTitle(name)}
            onConfirm={remove}
          >
            {messages.removeText}
          </ConfirmButton>
        )
      }
    >
      <FieldRow>
        <TextField
          name="clientId"
          label={messages.clientId}
          defaultValue={clientId ?? ''}
          spellCheck={false}
        />
        <PasswordField
          name="clientSecret"
          label={messages.clientSecret}
          {...((hasSecret || certificate) && { hint: messages.keepSecret })}
          autoComplete="off"
        />
      </FieldRow>
      {client.acceptsCertificate && <CertificateField />}
      {tenant !== null && (
        <TextField
          name="tenant"
          label={messages.tenant}
          hint={messages.tenantHint}
          defaultValue={tenant}
          spellCheck={false}
        />
      )}
    </Form>
  )
}

function wrongClient({ clientId = '' }: Record<string, string>): Record<string, string> {
  return clientId.trim() === '' ? { clientId: messages.missingClientId } : {}
}
