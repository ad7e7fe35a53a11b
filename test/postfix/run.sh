#!/bin/sh
# Runs Debian's Postfix on a loopback port, in a copy of this machine's file system that ends with it:
# run.sh FOLDER CACHE PORT TRANSPORTS PASSWORDS SPOOL [SETTING…]. It answers on the port once it is up, delivers by
# TRANSPORTS alone, signs in by PASSWORDS, has its queues in SPOOL if it is one, and keeps to the foreground. Runs under unshare --mount --pid, as root.
set -eu
folder=$1 cache=$2 port=$3 transports=$4 passwords=$5 spool=$6
shift 6
mount -t tmpfs postfix "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/root"
mount -t overlay postfix -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
mount --rbind /dev "$folder/root/dev"
mount -t proc proc "$folder/root/proc"
mount --bind "$cache" "$folder/root/var/cache/apt/archives"
# Nothing is started by the installation, not even a program that is there already.
printf '#!/bin/sh\nexit 101\n' >"$folder/root/usr/sbin/policy-rc.d"
chmod 755 "$folder/root/usr/sbin/policy-rc.d"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
flock "$cache.lock" chroot "$folder/root" apt-get install --yes --quiet --no-install-recommends postfix libsasl2-modules >&2
# No lookups and no other way out: a mail to any other domain fails here.
chroot "$folder/root" postconf \
  compatibility_level=3.6 myhostname=relay.example mydestination= inet_interfaces=127.0.0.1 inet_protocols=ipv4 \
  mynetworks=127.0.0.0/8 smtp_dns_support_level=disabled smtp_host_lookup=native \
  "default_transport=error:nothing leaves" "transport_maps=inline:{ $transports }" \
  delay_warning_time=3s maximal_queue_lifetime=12s bounce_queue_lifetime=12s queue_run_delay=1s \
  minimal_backoff_time=2s maximal_backoff_time=2s smtpd_tls_security_level=none smtp_tls_security_level=may \
  maillog_file=/dev/stdout
if [ -n "$passwords" ]; then
  chroot "$folder/root" postconf smtp_sasl_auth_enable=yes smtp_sasl_security_options=noanonymous \
    "smtp_sasl_password_maps=inline:{ $passwords }"
fi
if [ -n "$spool" ]; then
  chmod 755 "$spool"
  cp -a "$folder/root/var/spool/postfix/." "$spool"
  mount --bind "$spool" "$folder/root/var/spool/postfix"
fi
[ $# -eq 0 ] || chroot "$folder/root" postconf "$@"
chroot "$folder/root" postconf -M# smtp/inet
chroot "$folder/root" postconf -M "127.0.0.1:$port/inet=127.0.0.1:$port inet n - n - - smtpd"
chroot "$folder/root" postconf -F '*/*/chroot=n'
# It opens its standard output anew, which a socket does not allow.
chroot "$folder/root" postfix start-fg | cat
