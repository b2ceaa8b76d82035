import { Button as MantineButton, type ButtonProps as MantineButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import classes from './button.module.css'
import { Explained } from './explained.tsx'
import { Icon, type IconName } from '../brand/icons.tsx'

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger'

const SIZES = { small: 'compact-sm', normal: 'sm', large: 'lg' }
type Size = keyof typeof SIZES

type ButtonProps = {
  kind?: ButtonKind
  size?: Size
  icon?: IconName
  /** An action is in progress: the button stays in place and ignores clicks. */
  busy?: boolean
  disabled?: boolean
  /** Why the action is not available: disables the button, and is shown on focus and hover. */
  disabledReason?: string | undefined
  type?: 'button' | 'submit'
  /** Tells the submit buttons of a form apart. */
  name?: string
  onClick?: (() => void) | undefined
  children: ReactNode
}

export function Button({
  kind = 'plain',
  size = 'normal',
  icon,
  busy = false,
  type = 'button',
  disabledReason,
  ...rest
}: ButtonProps) {
  if (disabledReason) {
    return (
      <Explained reason={disabledReason}>
        {(described) => (
          <MantineButton {...looks(kind, size, icon)} {...described} data-disabled>
            {rest.children}
          </MantineButton>
        )}
      </Explained>
    )
  }
  return <MantineButton {...looks(kind, size, icon)} {...rest} type={type} loading={busy} />
}

/** A link that looks like a button, because it leads to the page's main action. */
export const ButtonLink = createLink(function ButtonLink({
  kind = 'plain',
  size = 'normal',
  icon,
  disabledReason,
  ...rest
}: ComponentProps<'a'> & Pick<ButtonProps, 'kind' | 'size' | 'icon' | 'disabledReason'>) {
  if (disabledReason)
    return (
      <Button kind={kind} size={size} disabledReason={disabledReason} {...(icon && { icon })}>
        {rest.children}
      </Button>
    )
  return <MantineButton component="a" {...looks(kind, size, icon)} {...rest} />
})

/** A file to keep, from our own API. */
export function DownloadLink({
  href,
  name,
  children,
}: {
  href: string
  name?: string
  children: ReactNode
}) {
  return (
    <MantineButton
      component="a"
      href={href}
      download={name ?? true}
      {...looks('quiet', 'small', 'download')}
    >
      {children}
    </MantineButton>
  )
}

function looks(kind: ButtonKind, size: Size, icon: IconName | undefined): MantineButtonProps {
  const leftSection = icon && <Icon name={icon} size={16} />
  return { variant: kind, size: SIZES[size], leftSection, classNames: classes }
}
