import { useMemo, useState } from 'react'
import { DownloadLink } from '../../ui/actions/button.tsx'
import { CopyButton } from '../../ui/actions/copy.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Row, Muted, Stack } from '../../ui/layout/page.tsx'
import { Segments } from '../../ui/actions/segments.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { sizeText } from '../../ui/text/format.ts'
import type { RequestDetails } from '../api.ts'
import { decodeBody } from './decode-body.ts'
import codeClasses from './code.module.css'
import classes from './body-view.module.css'
import { parseFormFields, type Field } from './form-fields.ts'
import { HexView } from './hex-view.tsx'
import { JsonView } from './json-view.tsx'
import { formatJson } from './format-json.ts'
import { body, request } from '../messages.ts'

type Request = RequestDetails['request']
type View = 'pretty' | 'form' | 'raw' | 'hex'

/** The body in every view that fits its type, the most readable one first. */
export function BodyView({ request: opened, download }: { request: Request; download: string }) {
  const [wanted, setWanted] = useState<View | null>(null)
  const form = useMemo(() => parseFormFields(opened.contentType, decodeBody(opened)), [opened])
  if (opened.body === '') return <Muted>{body.empty}</Muted>
  const views = viewsOf(opened, form !== null)
  const view = wanted !== null && views.includes(wanted) ? wanted : (views[0] ?? 'hex')
  return (
    <Stack>
      <div className={classes.ways}>
        <Segments
          label={body.view}
          choices={views.map((value) => ({ value, name: body.views[value] }))}
          value={view}
          onChange={setWanted}
        />
        <Row>
          <DownloadLink href={download}>{body.download}</DownloadLink>
          {opened.bodyEncoding === 'utf8' && <CopyButton text={opened.body} what={body.copy} />}
        </Row>
      </div>
      {view === 'pretty' && <Pretty text={opened.body} />}
      {view === 'form' && <Fields fields={form ?? []} />}
      {view === 'raw' && <Raw text={opened.body} />}
      {view === 'hex' && <HexView request={opened} />}
    </Stack>
  )
}

function viewsOf({ body: text, bodyEncoding, contentType }: Request, isForm: boolean): View[] {
  const isText = bodyEncoding === 'utf8'
  const isJson = isText && (/[/+]json\b/i.test(contentType ?? '') || /^\s*[[{]/.test(text))
  const views: (View | false)[] = [isJson && 'pretty', isForm && 'form', isText && 'raw', 'hex']
  return views.filter((view) => view !== false)
}

function Pretty({ text }: { text: string }) {
  const pretty = useMemo(() => formatJson(text), [text])
  if ('lines' in pretty) return <JsonView lines={pretty.lines} />
  return (
    <>
      <Notice tone="warn" title={body.invalidJson}>
        <p>{pretty.problem}</p>
      </Notice>
      <Raw text={text} />
    </>
  )
}

function Raw({ text }: { text: string }) {
  return (
    <pre className={`${codeClasses.code} ${classes.raw}`} tabIndex={0} aria-label={body.raw}>
      {text}
    </pre>
  )
}

function Fields({ fields }: { fields: Field[] }) {
  return (
    <Table caption={body.fields} quiet columns={[request.name, request.value, body.fieldSize]}>
      {fields.map(({ name, fileName, type, value, bytes }, index) => (
        <tr key={index}>
          <th scope="row">
            {name}
            {fileName !== null && <small>{[fileName, type].filter(Boolean).join(' · ')}</small>}
          </th>
          <td className={classes.value}>{value ?? <Muted>{body.notText}</Muted>}</td>
          <td>
            <Muted>{sizeText(bytes)}</Muted>
          </td>
        </tr>
      ))}
    </Table>
  )
}
