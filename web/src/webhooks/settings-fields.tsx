import { useState } from 'react'
import { AreaField, CheckField, FieldRow, PasswordField, SelectField, TextField } from '../ui/forms/form.tsx'
import { Section, Stack } from '../ui/layout/page.tsx'
import type { Endpoint } from './api.ts'
import { SCHEMES } from './settings.ts'

export function AnswerFields({ endpoint }: { endpoint: Endpoint }) {
  return (
    <>
      <TextField name="label" label="Name" defaultValue={endpoint.label} maxLength={100} autoComplete="off" />
      <Section title="What callers are answered">
        <Stack>
          <FieldRow>
            <TextField
              name="responseStatus"
              label="Status"
              inputMode="numeric"
              defaultValue={String(endpoint.responseStatus)}
              autoComplete="off"
            />
            <TextField
              name="timeout"
              label="Seconds before the answer"
              inputMode="decimal"
              defaultValue={String(endpoint.timeout)}
              autoComplete="off"
            />
            <TextField
              name="responseType"
              label="Content type"
              defaultValue={endpoint.responseType}
              autoComplete="off"
              spellCheck={false}
            />
          </FieldRow>
          <AreaField
            name="responseBody"
            label="Body"
            defaultValue={endpoint.responseBody}
            placeholder={'{"ok": true}'}
            spellCheck={false}
          />
          <CheckField
            name="template"
            label="Fill in what the sender sent"
            hint="{{body.challenge}}, {{query.name}}, {{header.name}} and {{hmac_sha256 body.token}} in the body above: for senders that want to see their challenge again. Anyone can request such a signature, for any data: it is made with the response secret below."
            defaultChecked={endpoint.template}
          />
          <CheckField
            name="cors"
            label="Let web pages send"
            hint="Pages of any origin may send here, and their browsers’ preflights are answered (CORS)."
            defaultChecked={endpoint.cors}
          />
        </Stack>
      </Section>
    </>
  )
}

export function SignatureFields({ endpoint: { signature } }: { endpoint: Endpoint }) {
  const [scheme, setScheme] = useState<string>(signature?.scheme ?? '')
  const keeps = signature?.scheme === scheme
  return (
    <Section title="Signature">
      <Stack>
        <SelectField
          name="signature.scheme"
          label="Check the signature of"
          hint="Each request shows whether the sender’s signature holds. None is refused for it."
          choices={SCHEMES}
          defaultValue={signature?.scheme ?? ''}
          onChoose={setScheme}
        />
        {scheme !== '' && (
          <PasswordField
            name="signature.secret"
            label="Secret"
            hint={
              keeps
                ? 'Left empty, the one that is kept stays.'
                : 'As the sender shows it. Sealed, and never shown again.'
            }
            autoComplete="off"
          />
        )}
        {scheme === 'hmac' && <HmacFields signature={signature} />}
      </Stack>
    </Section>
  )
}

function HmacFields({ signature }: Pick<Endpoint, 'signature'>) {
  return (
    <FieldRow>
      <TextField
        name="signature.header"
        label="Header"
        defaultValue={signature?.header ?? ''}
        placeholder="X-Signature"
        autoComplete="off"
        spellCheck={false}
      />
      <TextField
        name="signature.prefix"
        label="Before the signature"
        defaultValue={signature?.prefix ?? ''}
        placeholder="sha256="
        autoComplete="off"
        spellCheck={false}
      />
      <SelectField
        name="signature.algorithm"
        label="Algorithm"
        choices={['sha256', 'sha512', 'sha1'].map((value) => ({ value, label: value.toUpperCase() }))}
        defaultValue={signature?.algorithm ?? 'sha256'}
      />
      <SelectField
        name="signature.encoding"
        label="Written in"
        choices={[
          { value: 'hex', label: 'Hex' },
          { value: 'base64', label: 'Base64' },
        ]}
        defaultValue={signature?.encoding ?? 'hex'}
      />
    </FieldRow>
  )
}
