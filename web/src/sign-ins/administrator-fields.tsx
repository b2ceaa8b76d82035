import type { AdministratorProvider, NewAdministrator } from '../imap/credentials.ts'
import { FieldRow, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { CertificateField } from './certificate-field.tsx'
import { KeyFiles } from './key-files.tsx'
import { certificate, form as messages } from './messages.ts'

/** A provider, and how an administrator signs in there. */
export type Way = { provider: AdministratorProvider; kind: 'service_account' | 'app' }

/** The fields of an administrator’s sign-in. */
export function AdministratorSignInFields({ way }: { way: Way }) {
  return way.kind === 'app' ? <AppFields /> : <ServiceAccountFields way={way} />
}

function ServiceAccountFields({ way }: { way: Way }) {
  return (
    <>
      <Muted>{messages.keyHint(way.provider.scope)}</Muted>
      <KeyFiles name="serviceAccount" label={messages.chooseKey} hint={messages.dropKey} />
      <TextField
        name="user"
        label={messages.user}
        placeholder={messages.userExample}
        spellCheck={false}
      />
    </>
  )
}

function AppFields() {
  return (
    <>
      <Muted>{messages.appHint}</Muted>
      <FieldRow>
        <TextField
          name="tenant"
          label={messages.tenant}
          placeholder={messages.tenantExample}
          spellCheck={false}
        />
        <TextField name="clientId" label={messages.clientId} spellCheck={false} />
      </FieldRow>
      <PasswordField name="clientSecret" label={messages.clientSecret} autoComplete="off" />
      <CertificateField />
    </>
  )
}

/** What the form sends. @throws Error without a key file, or with a secret and a certificate */
export function administratorOf(values: Record<string, string>, way: Way): NewAdministrator {
  const provider = way.provider.id
  const textOf = (name: string) => (values[name] ?? '').trim()
  if (way.kind === 'app') {
    const named = { tenant: textOf('tenant'), clientId: textOf('clientId') }
    const [clientSecret, { clientCertificate }] = [textOf('clientSecret'), values]
    if (clientCertificate === undefined) return { provider, app: { ...named, clientSecret } }
    if (clientSecret) throw new Error(certificate.bothSecrets)
    return { provider, app: { ...named, clientCertificate } }
  }
  const { serviceAccount } = values
  if (serviceAccount === undefined) throw new Error(messages.missingKey)
  const user = textOf('user')
  return { provider, serviceAccount, ...(user && { user }) }
}

/** Validates the fields. */
export function wrongAdministrator(values: Record<string, string>): Record<string, string> {
  const missing = {
    tenant: messages.missingTenant,
    clientId: messages.missingClientId,
    ...(values['clientCertificate'] === undefined && {
      clientSecret: messages.missingClientSecret,
    }),
  }
  return Object.fromEntries(Object.entries(missing).filter(([name]) => values[name]?.trim() === ''))
}
