import { useState } from 'react'
import type { AdministratorProvider, NewAdministrator } from '../imap/credentials.ts'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { FileDrop } from '../ui/forms/file-drop.tsx'
import { FieldRow, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Muted, Row } from '../ui/layout/page.tsx'
import { form as messages } from './messages.ts'

/** A provider, and how an administrator signs in there. */
export type Way = { provider: AdministratorProvider; kind: 'service_account' | 'app' }

const MAX_KEY_BYTES = 20_000

/** The fields of an administrator’s sign-in. */
export function AdministratorSignInFields({ way }: { way: Way }) {
  return way.kind === 'app' ? <AppFields /> : <ServiceAccountFields way={way} />
}

function ServiceAccountFields({ way }: { way: Way }) {
  return (
    <>
      <Muted>{messages.keyHint(way.provider.scope)}</Muted>
      <KeyFile />
      <TextField
        name="user"
        label={messages.user}
        placeholder={messages.userExample}
        autoComplete="off"
        spellCheck={false}
      />
    </>
  )
}

/** A key file, whose text the form sends. */
function KeyFile() {
  const [file, setFile] = useState<{ name: string; text: string } | null>(null)
  const [problem, setProblem] = useState('')

  async function take([chosen]: File[]): Promise<void> {
    if (!chosen) return
    if (chosen.size > MAX_KEY_BYTES) return setProblem(messages.tooLarge)
    setProblem('')
    setFile({ name: chosen.name, text: await chosen.text() })
  }

  if (file)
    return (
      <Row>
        <span>{messages.chosenKey(file.name)}</span>
        <Button size="small" kind="quiet" onClick={() => setFile(null)}>
          {messages.otherKey}
        </Button>
        <input type="hidden" name="serviceAccount" value={file.text} />
      </Row>
    )
  return (
    <>
      <FileDrop
        label={messages.chooseKey}
        hint={messages.dropKey}
        busy={false}
        onFiles={(files) => void take(files)}
      />
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
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
          autoComplete="off"
          spellCheck={false}
        />
        <TextField
          name="clientId"
          label={messages.clientId}
          autoComplete="off"
          spellCheck={false}
        />
      </FieldRow>
      <PasswordField name="clientSecret" label={messages.clientSecret} autoComplete="off" />
    </>
  )
}

/** What the form sends. @throws Error without a key file */
export function administratorOf(values: Record<string, string>, way: Way): NewAdministrator {
  const provider = way.provider.id
  const textOf = (name: string) => (values[name] ?? '').trim()
  if (way.kind === 'app') {
    const app = {
      tenant: textOf('tenant'),
      clientId: textOf('clientId'),
      clientSecret: textOf('clientSecret'),
    }
    return { provider, app }
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
    clientSecret: messages.missingClientSecret,
  }
  return Object.fromEntries(Object.entries(missing).filter(([name]) => values[name]?.trim() === ''))
}
