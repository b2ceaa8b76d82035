import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { accountQuery } from '../../queries.ts'
import { Button } from '../../ui/actions/button.tsx'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Form, PasswordField, TextField } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Loading } from '../../ui/feedback/loading.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { methodsQuery, security, sessionsQuery, type SignInMethodsOfAccount } from '../api.ts'
import { authenticator as messages, fields } from '../messages.ts'
import { QrCode } from './qr-code.tsx'

type SetUp = { totpURI: string; backupCodes: string[] }

/** Sets up the authenticator app, shows its backup codes once, and removes it. */
export function Authenticator() {
  const { data: methods, error } = useQuery(methodsQuery)
  const [codes, setCodes] = useState<string[]>([])
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!methods) return <Loading lines={2}>{messages.off}</Loading>
  return (
    <Stack>
      <p>{methods.authenticator ? messages.on : messages.off}</p>
      {codes.length > 0 && <BackupCodes codes={codes} onSaved={() => setCodes([])} />}
      {methods.authenticator ? (
        <Change methods={methods} onCodes={setCodes} />
      ) : (
        <SetUpForm methods={methods} onCodes={setCodes} />
      )}
    </Stack>
  )
}

/** Three steps: the code to scan, a code of the app, and, once that is right, the backup codes. */
function SetUpForm({
  methods,
  onCodes,
}: {
  methods: SignInMethodsOfAccount
  onCodes: (codes: string[]) => void
}) {
  const queries = useQueryClient()
  const [started, setStarted] = useState<SetUp | null>(null)

  async function start({ password }: Record<string, string>): Promise<void> {
    setStarted(await security.startAuthenticator(password))
  }

  async function verify({ code = '' }: Record<string, string>): Promise<void> {
    await security.verifyCode(code.replaceAll(/\s/g, ''))
    onCodes(started?.backupCodes ?? [])
    setStarted(null)
    await Promise.all([
      queries.invalidateQueries(methodsQuery),
      queries.invalidateQueries(accountQuery),
      queries.invalidateQueries(sessionsQuery),
    ])
  }

  if (!started)
    return (
      <Form
        onSubmit={start}
        check={(values) => missingPassword(values, methods)}
        submit={messages.setUp}
      >
        {methods.password && <OwnPassword />}
      </Form>
    )
  return (
    <Stack>
      <StepTitle>{messages.scan}</StepTitle>
      <QrCode text={started.totpURI} label={messages.qrCode} />
      <Snippet what={messages.key} text={keyOf(started.totpURI)} />
      <h3>{messages.confirm}</h3>
      <Form
        onSubmit={verify}
        check={({ code }): Record<string, string> => (code ? {} : { code: messages.enterCode })}
        submit={messages.verify}
        aside={<Button onClick={() => setStarted(null)}>{messages.cancel}</Button>}
      >
        <TextField
          name="code"
          label={messages.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={10}
        />
      </Form>
    </Stack>
  )
}

function Change({
  methods,
  onCodes,
}: {
  methods: SignInMethodsOfAccount
  /** Shows the codes that replace the old ones. */
  onCodes: (codes: string[]) => void
}) {
  const queries = useQueryClient()
  const [action, setAction] = useState<'none' | 'off' | 'codes'>('none')

  async function confirm({ password }: Record<string, string>): Promise<void> {
    if (action === 'codes') onCodes((await security.replaceBackupCodes(password)).backupCodes)
    else {
      await security.removeAuthenticator(password)
      onCodes([])
    }
    setAction('none')
    await Promise.all([
      queries.invalidateQueries(methodsQuery),
      queries.invalidateQueries(accountQuery),
    ])
  }

  if (action === 'none')
    return (
      <div>
        <Button onClick={() => setAction('codes')}>{messages.replaceCodes}</Button>{' '}
        <Button onClick={() => setAction('off')}>{messages.turnOff}</Button>
      </div>
    )
  return (
    <Form
      onSubmit={confirm}
      check={(values) => missingPassword(values, methods)}
      submit={action === 'off' ? messages.turnOff : messages.replaceCodes}
      kind={action === 'off' ? 'danger' : 'primary'}
      aside={<Button onClick={() => setAction('none')}>{messages.cancel}</Button>}
    >
      {action === 'off' && <p>{messages.turnOffEffect}</p>}
      {methods.password && <OwnPassword />}
    </Form>
  )
}

function OwnPassword() {
  return <PasswordField name="password" label={fields.password} autoComplete="current-password" />
}

function BackupCodes({ codes, onSaved }: { codes: string[]; onSaved: () => void }) {
  return (
    <>
      <StepTitle>{messages.saveCodes}</StepTitle>
      <Notice tone="warn" title={messages.codesTitle}>
        <p>{messages.codes}</p>
        <Snippet what={messages.theCodes} text={codes.join('\n')} />
        <Button size="small" onClick={onSaved}>
          {messages.saved}
        </Button>
      </Notice>
    </>
  )
}

/** Takes the focus, so that the step is seen from its start. */
function StepTitle({ children }: { children: string }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    title.current?.focus({ preventScroll: true })
    // Focus alone would leave what belongs to the title below the window.
    title.current?.scrollIntoView()
  }, [])
  return (
    <h3 ref={title} tabIndex={-1}>
      {children}
    </h3>
  )
}

function missingPassword(
  { password }: Record<string, string>,
  methods: SignInMethodsOfAccount,
): Record<string, string> {
  return methods.password && !password ? { password: fields.enterPassword } : {}
}

/** The key in groups of four, as apps show it. */
function keyOf(totpURI: string): string {
  const secret = new URL(totpURI).searchParams.get('secret') ?? ''
  return secret.replaceAll(/(.{4})(?=.)/g, '$1 ')
}
