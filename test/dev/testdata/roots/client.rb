require "net/http"
require "uri"

$kept = ENV.to_h

def filled(text)
  text.gsub(/\{([A-Z_]+)\}/) { $kept.fetch($1) }
end

def send_step(base, step)
  begun = Time.now
  loop do
    at = URI.join(base, step[:path])
    request = Net::HTTP.const_get(step[:method].capitalize).new(at, step[:headers])
    request.body = step[:body] if step[:body]
    answer = Net::HTTP.start(at.host, at.port) { |http| http.request(request) }
    abort "#{step[:path]} is answered #{answer.code} #{answer.body}" if !answer.is_a?(Net::HTTPSuccess) || Time.now - begun > 60
    text = answer.body.to_s
    step[:keep].each { |name, pattern| $kept[name] = text[Regexp.new(pattern), 1] }
    return if text.include?(step[:until].to_s)

    sleep 0.05
  end
end

base = step = nil
[*File.readlines(ARGV[0], chomp: true), "end"].each do |line|
  word, rest = line.split(" ", 2)
  if step && %w[base GET POST end].include?(word)
    send_step(base, step)
    step = nil
  end
  case word
  when "base" then base = filled(rest)
  when "GET", "POST" then step = { method: word, path: filled(rest), headers: {}, keep: [] }
  when "header" then step[:headers].store(*filled(rest).split(": ", 2))
  when "keep" then step[:keep] << rest.split(" ", 2)
  when "body", "until" then step[word.to_sym] = filled(rest)
  end
end
