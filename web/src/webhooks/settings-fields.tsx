import { LabelsField } from '../labels/labels-field.tsx'
import { useState } from 'react'
import {
  AreaField,
  CheckField,
  FieldRow,
  PasswordField,
  SelectField,
  TextField,
} from '../ui/forms/form.tsx'
import { Section, Stack } from '../ui/layout/page.tsx'
import type { Endpoint } from './api.ts'
import { calledChoices, headersText, SCHEMES, silentChoices } from './endpoint-settings.ts'
import { settings } from './messages.ts'

export function ResponseFields({ endpoint }: { endpoint: Endpoint }) {
  return (
    <>
      <TextField name="label" label={settings.name} defaultValue={endpoint.label} maxLength={100} />
      <LabelsField labels={endpoint.labels} />
      <TextField
        name="name"
        label={settings.urlName}
        hint={settings.urlNameHint}
        defaultValue={endpoint.name ?? ''}
        maxLength={63}
        spellCheck={false}
      />
      <Section title={settings.response}>
        <Stack>
          <FieldRow>
            <TextField
              name="responseStatus"
              label={settings.status}
              inputMode="numeric"
              defaultValue={String(endpoint.responseStatus)}
            />
            <TextField
              name="timeout"
              label={settings.delay}
              inputMode="decimal"
              defaultValue={String(endpoint.timeout)}
            />
            <TextField
              name="responseType"
              label={settings.contentType}
              defaultValue={endpoint.responseType}
              spellCheck={false}
            />
          </FieldRow>
          <AreaField
            name="responseBody"
            label={settings.body}
            defaultValue={endpoint.responseBody}
            placeholder={'{"ok": true}'}
          />
          <AreaField
            name="responseHeaders"
            label={settings.responseHeaders}
            hint={settings.responseHeadersHint}
            rows={2}
            defaultValue={headersText(endpoint.responseHeaders)}
          />
          <CheckField
            name="template"
            label={settings.template}
            hint={settings.templateHint}
            defaultChecked={endpoint.template}
          />
          <CheckField
            name="cors"
            label={settings.cors}
            hint={settings.corsHint}
            defaultChecked={endpoint.cors}
          />
          <CheckField
            name="receivesEmail"
            label={settings.receivesEmail}
            hint={settings.receivesEmailHint}
            defaultChecked={endpoint.receivesEmail}
          />
          <TextField
            name="repeatKey"
            label={settings.repeatKey}
            hint={settings.repeatKeyHint}
            defaultValue={endpoint.repeatKey ?? ''}
            maxLength={200}
            spellCheck={false}
          />
        </Stack>
      </Section>
    </>
  )
}

export function SignatureFields({ endpoint: { signature, alerts } }: { endpoint: Endpoint }) {
  const [scheme, setScheme] = useState<string>(signature?.scheme ?? '')
  const keeps = signature?.scheme === scheme
  return (
    <Section title={settings.signature}>
      <Stack>
        <SelectField
          name="signature.scheme"
          label={settings.scheme}
          hint={settings.schemeHint}
          choices={SCHEMES}
          defaultValue={signature?.scheme ?? ''}
          onChoose={setScheme}
        />
        {scheme !== '' && (
          <PasswordField
            name="signature.secret"
            label={settings.secret}
            hint={keeps ? settings.secretKept : settings.secretHint}
            autoComplete="off"
          />
        )}
        {scheme === 'hmac' && <HmacFields signature={signature} />}
        {scheme !== '' && (
          <CheckField
            name="alerts.badSignature"
            label={settings.badSignature}
            hint={settings.badSignatureHint}
            defaultChecked={alerts.badSignature}
          />
        )}
      </Stack>
    </Section>
  )
}

export function AlertFields({ endpoint: { alerts } }: { endpoint: Endpoint }) {
  return (
    <Section title={settings.alerts}>
      <FieldRow>
        <SelectField
          name="alerts.silentAfterMinutes"
          label={settings.silent}
          hint={settings.silentHint}
          choices={silentChoices(alerts.silentAfterMinutes)}
          defaultValue={String(alerts.silentAfterMinutes ?? '')}
        />
        <SelectField
          name="alerts.calledEveryMinutes"
          label={settings.called}
          hint={settings.calledHint}
          choices={calledChoices(alerts.calledEveryMinutes)}
          defaultValue={String(alerts.calledEveryMinutes ?? '')}
        />
      </FieldRow>
    </Section>
  )
}

function HmacFields({ signature }: Pick<Endpoint, 'signature'>) {
  return (
    <FieldRow>
      <TextField
        name="signature.header"
        label={settings.header}
        defaultValue={signature?.header ?? ''}
        placeholder="X-Signature"
        spellCheck={false}
      />
      <TextField
        name="signature.prefix"
        label={settings.prefix}
        defaultValue={signature?.prefix ?? ''}
        placeholder="sha256="
        spellCheck={false}
      />
      <SelectField
        name="signature.algorithm"
        label={settings.algorithm}
        choices={['sha256', 'sha512', 'sha1'].map((value) => ({
          value,
          label: value.toUpperCase(),
        }))}
        defaultValue={signature?.algorithm ?? 'sha256'}
      />
      <SelectField
        name="signature.encoding"
        label={settings.encoding}
        choices={[
          { value: 'hex', label: settings.encodings.hex },
          { value: 'base64', label: settings.encodings.base64 },
        ]}
        defaultValue={signature?.encoding ?? 'hex'}
      />
    </FieldRow>
  )
}
