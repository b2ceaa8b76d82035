import { useEffect, useRef, useState } from 'react'
import { Icon } from '../../ui/brand/icons.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { TextWithCode } from '../../ui/text/text-with-code.tsx'
import type { Parameter, Schema } from '../document/openapi.ts'
import {
  allowedValues,
  constraintsOf,
  fieldsOf,
  resolve,
  typeText,
  type Constraint,
  type Field,
  type Schemas,
} from '../document/schema.ts'
import { fieldId, parsePlace, placeHref } from '../location.ts'
import { operation as messages } from '../messages.ts'
import { useReferenceContext } from '../reference-context.ts'
import classes from './field-list.module.css'
import { useTargetField } from './target-field.ts'

/** Fields that are open at first have at most as many below them. */
const MAX_OPEN_FIELDS = 16

/** Parameters as fields. */
export function parameterFields(parameters: Parameter[]): Field[] {
  return parameters.map(({ name, required = false, schema, description }) => ({
    name,
    isOption: false,
    isRequired: required,
    schema: description === undefined ? schema : { ...schema, description },
  }))
}

type FieldListProps = {
  /** Path of the parent, which the links of the fields begin with. */
  path: string[]
} & ({ fields: Field[]; schema?: never } | { fields?: never; schema: Schema })

/** The fields of a schema, each with its type, rules and the fields below it. */
export function FieldList({ path, fields, schema }: FieldListProps) {
  const { schemas } = useReferenceContext()
  const all = fields ?? fieldsOf(schema, schemas)
  if (all.length === 0) {
    return schema ? (
      <p className={classes.simple}>
        <Rules schema={schema} schemas={schemas} />
      </p>
    ) : null
  }
  return (
    <ul className={classes.list}>
      {all.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          path={[...path, field.name]}
          isOpenAtFirst={path.length === 1}
        />
      ))}
    </ul>
  )
}

type FieldRowProps = { field: Field; path: string[]; isOpenAtFirst: boolean }

function FieldRow({ field, path, isOpenAtFirst }: FieldRowProps) {
  const { schemas } = useReferenceContext()
  const row = useRef<HTMLLIElement>(null)
  const target = useTargetField()
  const isAbove = path.every((part, index) => part === target[index])
  const isTarget = isAbove && path.length === target.length
  const below = fieldsOf(field.schema, schemas)
  const [isOpen, setOpen] = useState(
    isAbove || (isOpenAtFirst && below.length <= MAX_OPEN_FIELDS && !below[0]?.isOption),
  )
  // Each navigation has its own `target`, so that going back opens what was closed meanwhile.
  useEffect(() => {
    if (isAbove) setOpen(true)
    if (isTarget) row.current?.scrollIntoView({ block: 'center' })
  }, [isAbove, isTarget, target])
  const { description } = resolve(field.schema, schemas)
  return (
    <li ref={row} id={fieldId(path)} className={classes.row} data-target={isTarget}>
      <div className={classes.head}>
        <FieldName name={field.name} path={path} />
        {!field.isOption && <span className={classes.type}>{typeText(field.schema, schemas)}</span>}
        <Presence field={field} path={path} />
      </div>
      {description !== undefined && (
        <p className={classes.description}>
          <TextWithCode text={description} />
        </p>
      )}
      {!field.isOption && <Rules schema={field.schema} schemas={schemas} />}
      {below.length > 0 && (
        <Toggle name={field.name} below={below} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      )}
      {below.length > 0 && isOpen && <FieldList path={path} fields={below} />}
    </li>
  )
}

/** The name links to the field, for the address bar and the clipboard. */
function FieldName({ name, path }: { name: string; path: string[] }) {
  const { name: id } = parsePlace(window.location.hash)
  return (
    <a className={classes.name} href={placeHref(id, path)}>
      <code>{name === '*' ? messages.anyKey : name}</code>
    </a>
  )
}

/** What is unusual: fields that a request must have, and those that a response may lack. */
function Presence({ field, path: [place = ''] }: { field: Field; path: string[] }) {
  if (field.isOption || field.name === '*') return null
  const isResponse = /^\d/.test(place)
  if (!isResponse && field.isRequired)
    return <span className={classes.required}>{messages.required(field.unless)}</span>
  if (isResponse && !field.isRequired)
    return <span className={classes.optional}>{messages.optional}</span>
  return null
}

type ToggleProps = { name: string; below: Field[]; isOpen: boolean; onToggle: () => void }

function Toggle({ name, below, isOpen, onToggle }: ToggleProps) {
  const count = below[0]?.isOption ? messages.options : messages.fields
  return (
    <button type="button" className={classes.toggle} aria-expanded={isOpen} onClick={onToggle}>
      <Icon name={isOpen ? 'up' : 'down'} size={14} />
      <span>
        {count(below.length)} <VisuallyHidden>{messages.below(name)}</VisuallyHidden>
      </span>
    </button>
  )
}

/** Default, range, format and allowed values. */
function Rules({ schema, schemas }: { schema: Schema; schemas: Schemas }) {
  const { default: initial } = resolve(schema, schemas)
  const values = allowedValues(schema, schemas)
  const constraints = constraintsOf(schema, schemas)
  if (initial === undefined && values.length === 0 && constraints.length === 0) return null
  return (
    <span className={classes.rules}>
      {constraints.map((constraint) => (
        <ConstraintText key={constraint.kind} constraint={constraint} />
      ))}
      {initial !== undefined && (
        <span>
          {messages.default}: <code>{JSON.stringify(initial)}</code>
        </span>
      )}
      {values.length > 0 && <Values values={values} />}
    </span>
  )
}

function ConstraintText({ constraint }: { constraint: Constraint }) {
  if ('text' in constraint)
    return constraint.kind === 'format' ? (
      <span>{constraint.text}</span>
    ) : (
      <code>{constraint.text}</code>
    )
  const { kind, least, most } = constraint
  return <span>{messages.constraint[kind](least, most)}</span>
}

/** Values that are shown without asking for more. */
const SHOWN_VALUES = 12

function Values({ values }: { values: unknown[] }) {
  const [isComplete, setComplete] = useState(values.length <= SHOWN_VALUES + 2)
  const shown = isComplete ? values : values.slice(0, SHOWN_VALUES)
  return (
    <span className={classes.values}>
      {messages.values}:{' '}
      {shown.map((value) => (
        <code key={String(value)}>{JSON.stringify(value)}</code>
      ))}
      {!isComplete && (
        <button type="button" className={classes.more} onClick={() => setComplete(true)}>
          {messages.moreValues(values.length - SHOWN_VALUES)}
        </button>
      )}
    </span>
  )
}
